"""Base model and field types of inputs: bodies and query strings of HTTP, options of the client, commands and tools."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Annotated, ClassVar, Protocol, get_args
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    RootModel,
    Strict,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from chiron_api.acts.moments import Side, parse_moment

YEAR = re.compile(r"[0-9]{4}-")
TICKS = {"1": True, "on": True, "true": True, "false": False}  # "on" is what a box without a value sends
FIELDS_MAX = 100  # of an object; each that is unknown is an error to be written out


def _require_text(value: object, info: ValidationInfo) -> object:
    """A time as text that begins with a year: pydantic would take a number for the seconds since 1970."""
    if isinstance(value, datetime) or (isinstance(value, str) and YEAR.match(value.strip())):
        return _midnight(value) if isinstance(value, str) and is_of_form(info) else value
    raise PydanticCustomError("time_text", "a time is text such as 2026-10-01T09:30:00Z")


def _read_moment(value: object, info: ValidationInfo) -> object:
    """A time in the past as commands take it, such as `yesterday` or `7d`."""
    if not isinstance(value, str):
        return _require_text(value, info)
    try:
        return parse_moment(value, Side.PAST)
    except ValueError:
        raise PydanticCustomError(
            "time_text", "write a time such as {forms}", {"forms": Side.PAST.forms}
        ) from None


def _midnight(text: str) -> datetime | str:
    """The local midnight at which a date of a form begins; other text unchanged."""
    try:
        return datetime.combine(date.fromisoformat(text), time.min).astimezone()
    except (OverflowError, ValueError, OSError):  # OSError: the platform's clock lacks that year
        return text


def _require_number(words: str) -> BeforeValidator:
    """Refuse `true` and "3", which pydantic would take for 1 and 3."""

    def require(value: object, info: ValidationInfo) -> object:
        is_text = isinstance(value, str) and is_of_form(info)
        if isinstance(value, (bool, str)) and not is_text:
            raise PydanticCustomError("number", "{words}, without quotes", {"words": words})
        return value

    return BeforeValidator(require)


def _refuse_bool(value: object, info: ValidationInfo) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError("amount", 'an amount of USD such as 2.5 or "2.5"')
    if isinstance(value, str) and is_of_form(info):
        return _amount(value)
    return value


def _amount(text: str) -> Decimal:
    """An amount such as $1,000."""
    try:
        return Decimal(text.removeprefix("$").replace(",", ""))
    except InvalidOperation:
        raise PydanticCustomError("amount", "an amount of USD above 0, such as 2.5") from None


def _read_tick(value: object, info: ValidationInfo) -> object:
    """The value of a checkbox or a button; a form leaves out unticked boxes."""
    return TICKS.get(value, value) if isinstance(value, str) and is_of_form(info) else value


def is_of_form(info: ValidationInfo) -> bool:
    """Whether the fields come from a form, where every value is text."""
    return bool(info.context and info.context.get("is_text"))


# Of bodies; in a query every number is text. Bounds stand before it: behind it pydantic describes them wrongly.
INTEGER = _require_number("an integer such as 3")
Whole = Annotated[int, INTEGER]
Positive = Annotated[int, Field(ge=1), INTEGER]
Share = Annotated[float, Field(ge=0, le=1), _require_number("a number such as 0.5")]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Usd = Annotated[
    Decimal,
    Field(gt=0),
    BeforeValidator(_refuse_bool),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "exclusiveMinimum": 0},
                {"type": "string", "pattern": r"^(?=[0-9.]*[1-9])[0-9]{1,12}(\.[0-9]{1,6})?$"},
            ]
        }
    ),
]
Tokens = Annotated[int, Field(gt=0), INTEGER]
Time = Annotated[AwareDatetime, BeforeValidator(_require_text)]
Moment = Annotated[AwareDatetime, BeforeValidator(_read_moment)]  # in the past; also a word
AnyTime = Annotated[datetime, BeforeValidator(_require_text)]  # with a zone or without
Flag = Annotated[bool, Strict(), BeforeValidator(_read_tick)]  # of a body: neither a number nor a word


class Input(BaseModel):
    """A body or a query string; an unknown field is refused, since it is most likely a typing error."""

    model_config = ConfigDict(extra="forbid")
    bytes_max: ClassVar[int | None] = None  # None: as any body

    @model_validator(mode="before")
    @classmethod
    def _bound_fields(cls, members: object) -> object:
        if isinstance(members, dict) and len(members) > FIELDS_MAX:
            raise PydanticCustomError(
                "too_many_fields", "has {count} fields; there are {names}",
                {"count": f"{len(members):,}", "names": ", ".join(cls.model_fields) or "none"},
            )  # fmt: skip
        return members


class Identified(Protocol):
    """An item of a list in pages."""

    @property
    def id(self) -> UUID:
        """The `after` of the page that follows it."""


class Page(Input):
    """A page of a list: `after` is the `next` of the page before."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    after: UUID | None = None

    def of(self, items: Sequence[Identified]) -> dict[str, object]:
        """The page of a list, from its first items: one more than `limit` where another page follows."""
        page = items[: self.limit]
        return {"items": page, "next": page[-1].id if len(items) > self.limit else None}


class JsonObject(RootModel[dict[str, object]]):
    """A JSON object whose fields are checked elsewhere."""


def rules_of(field: FieldInfo) -> Iterator[object]:
    """The constraints of a field, also of an optional one."""
    yield from field.metadata
    for choice in get_args(field.annotation):
        for rule in getattr(choice, "__metadata__", ()):
            yield from rule.metadata if isinstance(rule, FieldInfo) else (rule,)
