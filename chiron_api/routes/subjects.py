from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from chiron_api.requests import services


async def list_subjects(request: Request) -> JSONResponse:
    """Every subject with its learning goal, by name."""
    async with services(request).store() as store:
        return JSONResponse({"items": await store.subjects.all()})


routes = [Route("/v1/subjects", list_subjects)]
