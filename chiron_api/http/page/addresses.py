"""What the address of a page says, an id in its path and its query string; and where Flower is."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeVar
from urllib.parse import urlencode
from uuid import UUID

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from chiron_api.http.dependencies import services_of
from chiron_api.http.problems import unknown_id, validation_problem

Model = TypeVar("Model", bound=BaseModel)


def path_id(request: Request) -> UUID:
    """The `{id}` of the path. Raises Problem 404 where it is no UUID, since nothing has such an id."""
    text: str = request.path_params["id"]
    if text.isprintable():  # UUID takes a line break for a digit
        with suppress(ValueError):
            return UUID(text)
    raise unknown_id(text)


def read_query(request: Request, model: type[Model]) -> Model:
    """The query string as a model. Raises Problem 422."""
    try:
        return model.model_validate(dict(request.query_params))
    except ValidationError as error:
        raise validation_problem(error) from None


def query_of(texts: Mapping[str, str]) -> str:
    """Filters as a query string, without the empty ones."""
    return urlencode({name: text for name, text in texts.items() if text})


def address_of(path: str, texts: Mapping[str, str]) -> str:
    """A view with filters."""
    query = query_of(texts)
    return f"{path}?{query}" if query else path


def flower_address(request: Request) -> str:
    """Where Flower is, under the name by which this server was called; `task/ID` there is the task of a run."""
    host = request.url.hostname or "localhost"
    port = services_of(request).settings.flower_port
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
