import dataclasses
import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Any
from uuid import UUID

from starlette.responses import Response


def answer(
    value: object, status: HTTPStatus = HTTPStatus.OK, *, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON answer. Dataclasses become objects, ids and times text, money a number."""
    text = json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode(), status.value, headers=dict(headers or {}), media_type="application/json")


def _plain(value: Any) -> Any:
    match value:
        case UUID():
            return str(value)
        case Decimal():
            return float(value)
        case datetime():
            return value.isoformat()
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")
