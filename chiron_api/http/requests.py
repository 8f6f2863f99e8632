"""What bodies and query strings are made of."""

from decimal import Decimal
from typing import Annotated, ClassVar
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, RootModel, model_validator
from pydantic_core import PydanticCustomError

FIELDS_MAX = 100  # of an object; each that is unknown is an error to be written out


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


class Page(RequestModel):
    """A page of a list: `after` is the `next` of the page before."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    after: UUID | None = None


class JsonObject(RootModel[dict[str, object]]):
    """A JSON object whose fields are checked elsewhere."""
