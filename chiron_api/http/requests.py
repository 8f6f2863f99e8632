"""Bodies, query strings and ids of requests, bounded and validated."""

from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, TypeVar
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, RootModel, ValidationError
from starlette.requests import Request

from chiron_api.http.problems import Problem, validation_problem
from chiron_api.services import Services

BODY_BYTES_MAX = 16 * 1024 * 1024

Name = Annotated[str, Field(min_length=1, max_length=200)]
Usd = Annotated[Decimal, Field(gt=0)]
Tokens = Annotated[int, Field(gt=0)]
Time = Annotated[AwareDatetime, Field(strict=True)]


class RequestModel(BaseModel):
    """A body or a query string; an unknown field is refused, since it is most likely a typing error."""

    model_config = ConfigDict(extra="forbid")


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
    """The body as any JSON object. Raises Problem 400, 413, 415 or 422."""
    return (await read_body(request, JsonObject)).root


async def read_body(request: Request, model: type[Model]) -> Model:
    """The body as a model. Raises Problem 400, 413, 415 or 422."""
    try:
        return model.model_validate_json(await _read_bytes(request))
    except ValidationError as error:
        raise validation_problem(error) from None


async def read_optional_body(request: Request, model: type[Model]) -> Model:
    """As `body`, but a request without one gives the model's defaults."""
    if request.headers.get("content-length", "0") == "0" and "transfer-encoding" not in request.headers:
        return model()
    return await read_body(request, model)


async def _read_bytes(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Send JSON with `Content-Type: application/json`.")
    payload = bytearray()
    async for chunk in request.stream():
        payload += chunk
        if len(payload) > BODY_BYTES_MAX:
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A body may have {BODY_BYTES_MAX:,} bytes.")
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
