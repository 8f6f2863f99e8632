"""Bodies, query strings and ids of requests, bounded and validated."""

import asyncio
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, TypeVar
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError, from_json
from starlette.requests import Request

from chiron_api.http.problems import Problem, validation_problem
from chiron_api.services import Services

BODY_BYTES_MAX = 1024 * 1024
BATCH_BYTES_MAX = 16 * 1024 * 1024
BODY_TIMEOUT_S = 60.0  # without a byte more of it
VALUES_MAX = 2_000_000  # of a body: a byte or two each there, and dozens here
FIELDS_MAX = 100  # of an object; each that is unknown is an error to be written out
LOOP_BYTES_MAX = 65_536  # a longer body is read beside the event loop
COMMON = b",[{"  # a value has one of them before it, or is the only one


def _require_text(value: object) -> object:
    """A time as text: pydantic would take a number for the seconds since 1970."""
    if isinstance(value, str):
        return value
    raise PydanticCustomError("time_text", "a time is text such as 2026-10-01T09:30:00Z")


Name = Annotated[str, Field(min_length=1, max_length=200)]
Usd = Annotated[Decimal, Field(gt=0)]
Tokens = Annotated[int, Field(gt=0)]
Time = Annotated[AwareDatetime, BeforeValidator(_require_text)]


class RequestModel(BaseModel):
    """A body or a query string; an unknown field is refused, since it is most likely a typing error."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _bound_fields(cls, members: object) -> object:
        if isinstance(members, dict) and len(members) > FIELDS_MAX:
            raise PydanticCustomError(
                "too_many_fields", "has {count} fields; there are {names}",
                {"count": f"{len(members):,}", "names": ", ".join(cls.model_fields) or "none"},
            )  # fmt: skip
        return members


class Page(RequestModel):
    """A page of a list: `after` is the `next` of the page before."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    after: UUID | None = None


class JsonObject(RootModel[dict[str, object]]):
    """A JSON object whose fields are checked elsewhere."""


Model = TypeVar("Model", bound=BaseModel)


def services_of(request: Request) -> Services:
    """The services of the process that answers."""
    services: Services = request.state.services
    return services


async def read_json_object(request: Request) -> dict[str, object]:
    """The body as any JSON object. Raises Problem 400, 408, 413, 415 or 422."""
    return (await read_body(request, JsonObject)).root


async def read_body(request: Request, model: type[Model], *, bytes_max: int | None = None) -> Model:
    """The body as a model. Raises Problem 400, 408, 413, 415 or 422."""
    payload = await _read_bytes(request, BODY_BYTES_MAX if bytes_max is None else bytes_max)
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


async def read_optional_body(request: Request, model: type[Model]) -> Model:
    """As `body`, but a request without one gives the model's defaults."""
    if request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers:
        return model()
    return await read_body(request, model)


async def _read_bytes(request: Request, bytes_max: int) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send JSON with `Content-Type: application/json`.")
    payload = bytearray()
    chunks = request.stream()
    try:
        while chunk := await asyncio.wait_for(anext(chunks, b""), BODY_TIMEOUT_S):
            payload += chunk
            if len(payload) > bytes_max:
                raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A body may have {bytes_max:,} bytes.")
    except TimeoutError:
        detail = f"No more of the body came within {BODY_TIMEOUT_S:g} s."
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail, headers={"Connection": "close"}) from None
    return bytes(payload)


def read_query(request: Request, model: type[Model]) -> Model:
    """The query string as a model. Raises Problem 422."""
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        raise validation_problem(error) from None


def path_id(request: Request) -> UUID:
    """The `{id}` of the path. Raises Problem 404 where it is no UUID, since nothing has such an id."""
    text: str = request.path_params["id"]
    try:
        return UUID(text)
    except ValueError:
        raise Problem(HTTPStatus.NOT_FOUND, f"{text!r} is not an id.") from None
