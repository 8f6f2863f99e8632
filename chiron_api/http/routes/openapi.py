from typing import Any

from starlette.responses import Response

from chiron_api.http.document import document_json
from chiron_api.http.routing import api_router

router = api_router("Documentation")


@router.get("/openapi.json", summary="Describe the API", response_model=dict[str, Any])
def show_openapi() -> Response:
    """The OpenAPI document, version 3.1, of this server."""
    return Response(document_json(), media_type="application/json")
