"""Requests as data: what is sent, how the answer is read, and whether sending it twice does harm."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4

from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from chiron_api.client.errors import Unreadable

PAGE_ITEMS = 100
Value = TypeVar("Value")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Call(Generic[Value]):
    """One request of the API.

    Args:
        path: As the OpenAPI document has it, with `{id}` or `{name}`, which `target` replaces.
        model: What the answer is: a model, `bytes` for a document as it is, None for no body.
        content: A body that is not JSON.
        part: The field of the model that is the value, if it is not the model itself.
        is_repeatable: Sending it again does nothing a second time.
    """

    method: str
    path: str
    model: type[BaseModel] | type[bytes] | None
    target: str = ""
    part: str = ""
    query: Mapping[str, object] = field(default_factory=dict)
    body: Mapping[str, object] | None = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False

    @property
    def location(self) -> str:
        """Path and query as they are sent; what is None is left out."""
        path = self.path
        if "{" in path:
            head, _, rest = path.partition("{")
            path = f"{head}{quote(self.target, safe='')}{rest.partition('}')[2]}"
        fields = {name: _query_text(value) for name, value in self.query.items() if value is not None}
        return f"{path}?{urlencode(fields)}" if fields else path

    @property
    def document(self) -> Any:
        """The body as JSON knows it. None: no body is sent."""
        return to_jsonable_python(self.body)

    def parse(self, body: bytes) -> Value:
        """Read the body of a good answer. Raises Unreadable."""
        if self.model is None:
            return cast(Value, None)
        if not issubclass(self.model, BaseModel):
            return cast(Value, body)
        try:
            answer = self.model.model_validate_json(body)
        except ValidationError as error:
            raise unreadable(f"{self.method} {self.path}", error) from None
        return cast(Value, getattr(answer, self.part) if self.part else answer)


@dataclass(frozen=True, slots=True)
class Listing(Generic[Item]):
    """A list in pages: the call for the page after an id, None for the first."""

    page: Callable[[UUID | None], Call[Any]]


@dataclass(frozen=True, slots=True)
class Wait(Generic[Value]):
    """A call that is repeated until its batch or run is finished or paused; a timeout of None waits forever."""

    call: Call[Value]
    timeout_s: float | None


def get(path: str, model: Any, **options: Any) -> Call[Any]:
    """A call that only reads."""
    return Call("GET", path, model, is_repeatable=True, **options)


def pages(path: str, model: Any, /, *, target: str = "", **query: object) -> Listing[Any]:
    """A list in pages of which each is full but the last."""
    return Listing(
        lambda after: get(path, model, target=target, query={**query, "limit": PAGE_ITEMS, "after": after})
    )


def fields(**values: object) -> dict[str, object]:
    """A body of what is not None; the rest is as the server has it."""
    return {name: value for name, value in values.items() if value is not None}


def entries(values: Iterable[object] | None) -> list[object] | None:
    """A list of a body, in which what has options of its own is as a body of these."""
    if values is None:
        return None
    return [entry if isinstance(entry, str) else _members(entry) for entry in values]


def _members(entry: object) -> object:
    names = getattr(entry, "__slots__", ()) if is_dataclass(entry) else ()
    return fields(**{name: getattr(entry, name) for name in names}) if names else entry


def key_header(key: str | None, *, is_made: bool = True) -> dict[str, str]:
    """The header with an idempotency key: the caller's, else a new one where one `is_made`."""
    key = key or (str(uuid4()) if is_made else None)
    return {"Idempotency-Key": key} if key else {}


def unreadable(operation: str, error: ValidationError) -> Unreadable:
    """The error of an answer that does not fit its model."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return Unreadable(
        f"The answer to {operation} cannot be read ({place}: {first['msg']}). Is the server of another version than this client?"
    )


def _query_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime) else str(value)
