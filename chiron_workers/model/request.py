from collections.abc import Sequence
from dataclasses import dataclass

from chiron_workers.runs.messages import Message


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the model: the frozen opening of the epoch and the conversation so far."""

    model: str
    system: str
    tools: Sequence[bytes]  # each definition as JSON
    max_tokens: int
    messages: Sequence[Message]
    last_question_at: tuple[int, int] | None = (
        None  # message and block that the request before this one ended with
    )

    @property
    def prompt_bytes(self) -> int:
        """Bytes of everything that the model reads."""
        message_bytes = sum(len(block) for message in self.messages for block in message.blocks)
        return len(self.system.encode(errors="replace")) + sum(map(len, self.tools)) + message_bytes
