"""The steps of a flow, and what came of them."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from chiron_api.client.call import Call

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; the outcome is an Answer or a Cut. With `is_stream` the body of a good answer is left to Read."""

    call: Call[Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    is_stream: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """Read on in the body that Send left; the outcome is bytes, none at its end, or a Cut."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Sleep; the outcome is None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Emit:
    """Hand something to the caller; the outcome is None."""

    item: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the server, good or not; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_good(self) -> bool:
        """Whether the server did what was asked."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Cut:
    """A connection that failed, and why; `is_unsent` if the server cannot have got the request."""

    reason: str
    is_unsent: bool = False


Step = Send | Read | Pause | Emit
Outcome = Answer | Cut | bytes | None
Flow = Generator[Step, Any, Value]
