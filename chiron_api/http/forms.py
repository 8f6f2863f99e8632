"""Forms of our own pages: their fields, taken only with the token of the session that the page was made for."""

import asyncio
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.requests import Request

from chiron_api.http.csrf import CSRF_FIELD, require_csrf
from chiron_api.http.problems import Problem
from chiron_api.http.requests import BODY_TIMEOUT_S

FORM_BYTES_MAX = 1024 * 1024
FIELDS_MAX = 1_000

Form = dict[str, list[str]]


async def read_form(request: Request, *, bytes_max: int = FORM_BYTES_MAX) -> Form:
    """The fields of a form as a browser sends them by default, each with all its values.

    Raises:
        Problem: 403 without the token of the session as `csrf_token`, 408, 413, 415 or 422.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send the form as application/x-www-form-urlencoded."
        )
    payload = await _read(request, bytes_max)
    try:
        fields = parse_qs(
            payload.decode(), keep_blank_values=True, max_num_fields=FIELDS_MAX, errors="strict"
        )
    except ValueError:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"A form is UTF-8 text of at most {FIELDS_MAX:,} fields."
        ) from None
    require_csrf(request, fields.pop(CSRF_FIELD, [""])[0])
    return fields


async def _read(request: Request, bytes_max: int) -> bytes:
    payload = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for chunk in request.stream():
                payload += chunk
                if len(payload) > bytes_max:
                    raise Problem(
                        HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A form may have {bytes_max:,} bytes."
                    )
    except TimeoutError:
        detail = f"The form did not come within {BODY_TIMEOUT_S:g} s."
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail, headers={"Connection": "close"}) from None
    return bytes(payload)
