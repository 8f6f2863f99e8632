"""Bodies of requests: their bytes, the time they take, and the number of their values are bounded."""

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import Request

from chiron_api.http.problems import Problem, validation_problem

BODY_BYTES_MAX = 1024 * 1024
BODY_TIMEOUT_S = 60.0  # without a byte more of it
VALUES_MAX = 2_000_000  # of a body: a byte or two each there, and dozens here
LOOP_BYTES_MAX = 65_536  # a longer body is read beside the event loop
COMMON = b",[{"  # a value has one of them before it, or is the only one

Model = TypeVar("Model", bound=BaseModel)


def is_empty(request: Request) -> bool:
    """Whether a request says that it has no body."""
    return request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers


async def read_body(request: Request, model: type[Model]) -> Model:
    """The body as a model; `bytes_max` of the model bounds it. Raises Problem 400, 408, 413, 415 or 422."""
    payload = await _read_bytes(request, getattr(model, "bytes_max", None) or BODY_BYTES_MAX)
    try:
        if len(payload) <= LOOP_BYTES_MAX:
            return _parsed(payload, model)
        return await asyncio.to_thread(_parsed, payload, model)
    except ValidationError as error:
        raise validation_problem(error) from None


def _parsed(payload: bytes, model: type[Model]) -> Model:
    """Raises Problem 400 and 422, ValidationError."""
    if sum(map(payload.count, COMMON)) > VALUES_MAX:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"A body may have {VALUES_MAX:,} values.")
    try:
        value = from_json(payload)
    except ValueError as error:
        raise Problem(HTTPStatus.BAD_REQUEST, f"The body is not JSON: {error}.") from None
    return model.model_validate(value)


async def _read_bytes(request: Request, bytes_max: int) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send JSON with `Content-Type: application/json`.")
    payload = bytearray()
    async for chunk in bounded_chunks(request, bytes_max=bytes_max):
        payload += chunk
    return bytes(payload)


async def bounded_chunks(request: Request, *, bytes_max: int) -> AsyncIterator[bytes]:
    """The body as it comes. Raises Problem 408 and 413."""
    size, chunks = 0, request.stream()
    try:
        while chunk := await asyncio.wait_for(anext(chunks, b""), BODY_TIMEOUT_S):
            size += len(chunk)
            if size > bytes_max:
                raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A body may have {bytes_max:,} bytes.")
            yield chunk
    except TimeoutError:
        detail = f"No more of the body came within {BODY_TIMEOUT_S:g} s."
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail, headers={"Connection": "close"}) from None
