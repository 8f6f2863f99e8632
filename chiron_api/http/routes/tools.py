from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from chiron_api.http.problems import Problem
from chiron_api.http.requests import read_json_object, services_of
from chiron_api.views.skills import skill_rows
from chiron_workers.errors import ToolTimeoutError
from chiron_workers.tools import registry


async def list_tools(_: Request) -> JSONResponse:
    """The tools an agent is offered, in the Anthropic format."""
    return JSONResponse({"items": registry().definitions()})


def list_skills(_: Request) -> JSONResponse:
    """The skills of the machine that the API runs on, as `chiron skills --json` lists them."""
    return JSONResponse({"items": skill_rows()})


async def call_tool(request: Request) -> JSONResponse:
    """Run a tool with the body as its arguments, and commit what it wrote."""
    name, services = request.path_params["name"], services_of(request)
    registry().get(name)  # an unknown tool is 404, whatever the body
    arguments = await read_json_object(request)
    try:
        async with services.store() as store:
            limit_s = services.settings.tool_timeout_s
            result = await registry().execute(name, store, arguments, timeout_s=limit_s)
    except ToolTimeoutError as error:
        raise Problem(HTTPStatus.GATEWAY_TIMEOUT, f"{error} Nothing was written.") from None
    return JSONResponse({"result": result})


routes = [
    Route("/v1/tools", list_tools),
    Route("/v1/tools/{name}", call_tool, methods=["POST"]),
    Route("/v1/skills", list_skills),
]
