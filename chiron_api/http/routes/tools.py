from http import HTTPStatus
from typing import Annotated

from pydantic import AfterValidator
from starlette.responses import JSONResponse

from chiron_api.acts.inputs import JsonObject
from chiron_api.answers.tools import ToolResult
from chiron_api.http.dependencies import ServicesOf, StoreOpener
from chiron_api.http.descriptions import answers
from chiron_api.http.problems import Problem
from chiron_api.http.routing import api_router
from chiron_workers.errors import ToolTimeoutError
from chiron_workers.tools import registry

router = api_router("Tools")


def _require_tool(name: str) -> str:
    registry().get(name)  # an unknown tool is 404, whatever the body
    return name


ToolName = Annotated[str, AfterValidator(_require_tool)]


@router.post(
    "/v1/tools/{name}",
    summary="Call a tool",
    response_model=ToolResult,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.GATEWAY_TIMEOUT),
)
async def call_tool(
    name: ToolName, arguments: JsonObject, services: ServicesOf, open_store: StoreOpener
) -> JSONResponse:
    """Run a tool with the body as its arguments, and commit what it wrote."""
    try:
        async with open_store() as store:
            limit_s = services.settings.tool_timeout_s
            result = await registry().execute(name, store, arguments.root, timeout_s=limit_s)
            note = store.search.words_only
    except ToolTimeoutError as error:
        raise Problem(HTTPStatus.GATEWAY_TIMEOUT, f"{error} Nothing was written.") from None
    return JSONResponse({"result": result} | ({"note": note} if note else {}))
