from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the model: what the epoch froze, and the conversation so far."""

    model: str
    system: str
    tools: tuple[dict[str, Any], ...]
    max_tokens: int
    messages: list[dict[str, Any]]
    sent: tuple[int, int] | None = None  # message and block that the request before this one ended with
