from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from chiron_api.text import as_json


def json_response(
    value: object, status: HTTPStatus = HTTPStatus.OK, *, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON response in the form that the commands print with --json."""
    return Response(as_json(value), status.value, headers=dict(headers or {}), media_type="application/json")
