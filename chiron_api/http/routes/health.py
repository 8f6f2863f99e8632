import asyncio
from http import HTTPStatus

import psycopg
from starlette.responses import JSONResponse

from chiron_api.answers.basics import Health
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import answers
from chiron_api.http.problems import Problem
from chiron_api.http.routing import api_router
from chiron_workers.db.migrate import pending_in

READY_S = 3.0
UNREADY = "Postgres does not answer, or all connections of this server to it have been in use for 3 s (CHIRON_POOL_SIZE)."
router = api_router("Health")


@router.get("/healthz", summary="Is the process alive?", response_model=Health)
async def healthz() -> JSONResponse:
    """The process is alive."""
    return JSONResponse({"status": "ok"})


@router.get(
    "/readyz",
    summary="Is the server ready?",
    response_model=Health,
    responses=answers(HTTPStatus.SERVICE_UNAVAILABLE),
)
async def readyz(services: ServicesOf) -> JSONResponse:
    """One of the connections that requests use is free within 3 s, and Postgres answers and has every migration; else 503."""
    try:
        async with asyncio.timeout(READY_S):
            migrations = await pending_in(services.pool)
    except (psycopg.Error, TimeoutError):
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, UNREADY) from None
    if migrations:
        detail = f"The schema lacks {', '.join(migrations)}; its migrations have to be applied."
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail)
    return JSONResponse({"status": "ready"})
