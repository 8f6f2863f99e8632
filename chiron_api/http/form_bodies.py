"""Forms as bodies of requests: bounded as they come, their files on a disk and not in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

from chiron_api.http import bodies
from chiron_api.http.problems import Problem

FIELDS_MAX = 50
FILES_MAX = 5
MULTIPART = "multipart/form-data"
FIELD_TOO_LARGE = "Part exceeded maximum size"  # as Starlette says it
FORM_TYPES = ("application/x-www-form-urlencoded", MULTIPART)


def media_type_of(request: Request) -> str:
    """The type of a body, in lower case and without its parameters; empty where none is named."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


@asynccontextmanager
async def open_form(
    request: Request, *, bytes_max: int, refusal: str = "", field_bytes_max: int | None = None
) -> AsyncIterator[FormData]:
    """The fields and files of a form, which are gone at the end.

    Args:
        bytes_max: Of all fields and files together, as they come.
        refusal: What a form that is larger is told.
        field_bytes_max: Of a field that is no file; None: as of the whole form.

    Raises:
        Problem: 400 where it cannot be read, 408 where it does not go on, 413 where it is too large, 415 where it is no form.
    """
    media_type = media_type_of(request)
    if media_type not in FORM_TYPES:
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send a form.")
    refusal = refusal or f"A form may have {bytes_max:,} bytes."
    field_bytes_max = field_bytes_max or bytes_max
    field_refusal = f"A field that is no file may have {field_bytes_max:,} bytes."
    # Such a form has no file, and Starlette bounds none of its fields.
    if media_type != MULTIPART and field_bytes_max < bytes_max:
        bytes_max, refusal = field_bytes_max, field_refusal
    bounded = Request(request.scope, _bounded(request.receive, bytes_max, refusal))
    try:
        form = await bounded.form(max_files=FILES_MAX, max_fields=FIELDS_MAX, max_part_size=field_bytes_max)
    except HTTPException as error:
        if error.detail.startswith(FIELD_TOO_LARGE):
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, field_refusal) from None
        raise Problem(HTTPStatus.BAD_REQUEST, f"The form cannot be read: {error.detail}") from None
    try:
        yield form
    finally:
        await form.close()


def _bounded(receive: Receive, bytes_max: int, refusal: str) -> Receive:
    """Starlette bounds each field and writes files of any size to a disk: the whole is bounded as it comes."""
    size = 0

    async def receive_bounded() -> Message:
        nonlocal size
        try:
            message = await asyncio.wait_for(receive(), bodies.BODY_TIMEOUT_S)
        except TimeoutError:
            detail = f"No more of the form came within {bodies.BODY_TIMEOUT_S:g} s."
            raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail, headers={"Connection": "close"}) from None
        size += len(message.get("body", b""))
        if size > bytes_max:
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, refusal)
        return message

    return receive_bounded
