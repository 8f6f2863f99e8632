from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from chiron_api.views.skills import skill_rows


def list_skills(_: Request) -> JSONResponse:
    """The skills of the machine that the API runs on, as `chiron skills --json` lists them."""
    return JSONResponse({"items": skill_rows()})


routes = [Route("/v1/skills", list_skills)]
