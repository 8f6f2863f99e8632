import asyncio
from http import HTTPStatus

import psycopg
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from chiron_api.http.problems import Problem
from chiron_api.http.requests import services_of
from chiron_workers.db.migrate import pending
from chiron_workers.errors import ServiceUnavailable


async def healthz(_: Request) -> JSONResponse:
    """The process is alive."""
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> JSONResponse:
    """Postgres answers within 3 s and has every migration; else 503."""
    try:
        async with asyncio.timeout(3):
            migrations = await asyncio.to_thread(pending, services_of(request).settings.database_url)
    except (ServiceUnavailable, psycopg.Error, TimeoutError):
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "Postgres does not answer.") from None
    if migrations:
        detail = f"The schema lacks {', '.join(migrations)}: run `chiron migrate`."
        raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail)
    return JSONResponse({"status": "ready"})


routes = [Route("/healthz", healthz), Route("/readyz", readyz)]
