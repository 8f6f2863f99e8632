import asyncio
from http import HTTPStatus

import psycopg
from starlette.responses import JSONResponse

from chiron_api.client.models.basics import Health
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import answers
from chiron_api.http.problems import Problem
from chiron_api.http.routing import api_router
from chiron_workers.db.migrate import pending
from chiron_workers.errors import ServiceUnavailable

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
    """Postgres answers within 3 s and has every migration; else 503."""
    try:
        async with asyncio.timeout(3):
            migrations = await asyncio.to_thread(pending, services.settings.database_url)
    except (ServiceUnavailable, psycopg.Error, TimeoutError):
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "Postgres does not answer.") from None
    if migrations:
        detail = f"The schema lacks {', '.join(migrations)}: run `chiron migrate`."
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail)
    return JSONResponse({"status": "ready"})
