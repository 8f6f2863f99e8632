"""Forms as bodies of requests: bounded as they come, their files on a disk and not in memory.

What is long is decoded beside the event loop, in pieces, since a call of C keeps Python's lock from all other threads.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

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
URL_ENCODED = "application/x-www-form-urlencoded"
FORM_TYPES = (URL_ENCODED, MULTIPART)
PIECE_BYTES = 65_536  # that a call of C decodes


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
    if media_type == URL_ENCODED and field_bytes_max < bytes_max:  # it has no file
        bytes_max, refusal = field_bytes_max, field_refusal
    body = Request(request.scope, _bounded(request.receive, bytes_max, refusal))
    try:
        if media_type == URL_ENCODED:
            form = await _url_encoded(body)
        else:
            form = await body.form(max_files=FILES_MAX, max_fields=FIELDS_MAX, max_part_size=field_bytes_max)
    except HTTPException as error:
        if error.detail.startswith(FIELD_TOO_LARGE):
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, field_refusal) from None
        raise Problem(HTTPStatus.BAD_REQUEST, f"The form cannot be read: {error.detail}") from None
    try:
        yield form
    finally:
        await form.close()


async def _url_encoded(request: Request) -> FormData:
    """The fields of a form without files. Starlette would decode them within the event loop. Raises HTTPException."""
    payload = b"".join([chunk async for chunk in request.stream()])
    if payload.count(b"&") >= FIELDS_MAX:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, f"Too many fields. Maximum number of fields is {FIELDS_MAX}."
        )
    if len(payload) <= PIECE_BYTES:
        return _fields(payload)
    return await asyncio.to_thread(_fields, payload)


def _fields(payload: bytes) -> FormData:
    pairs = [field.partition(b"=") for field in payload.split(b"&") if field]
    return FormData([(_decoded(name), _decoded(value)) for name, _, value in pairs])


def _decoded(text: bytes) -> str:
    """A name or a value without its escapes; what is no UTF-8 is replaced."""
    plain, start = bytearray(), 0
    while start < len(text):
        end = start + PIECE_BYTES
        escape = text.rfind(b"%", end - 2, end)  # the first two signs of an escape stay with its last
        piece = text[start : escape if escape > start else end]
        plain += unquote_to_bytes(piece.replace(b"+", b" "))
        start += len(piece)
    return plain.decode(errors="replace")


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
