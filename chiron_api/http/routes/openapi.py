from typing import Any

from starlette.responses import JSONResponse

from chiron_api.http.document import document
from chiron_api.http.routing import api_router

router = api_router("Documentation")


@router.get("/openapi.json", summary="Describe the API", response_model=dict[str, Any])
def show_openapi() -> JSONResponse:
    """The OpenAPI document, version 3.1, of this server."""
    return JSONResponse(document())
