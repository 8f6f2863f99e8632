from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chiron_workers.entries import Reply
from chiron_workers.model import Model, Request
from chiron_workers.store import Session

SYSTEM = "You help a research program. Do what is asked with the tools you have, and answer in one sentence."


@dataclass(frozen=True, slots=True)
class RunAsker:
    """Asks a run's model on behalf of one of its tools; what it costs commits with the tool's result."""

    model: Model
    name: str
    session: Session

    async def ask(self, question: str, *, tools: Sequence[dict[str, Any]], max_tokens: int) -> Reply:
        """One reply to one question, apart from the run's conversation.

        Raises:
            RunFailed: The model refuses the request.
            ModelUnavailable: It cannot answer now.
        """
        messages = [{"role": "user", "content": [{"type": "text", "text": question}]}]
        request = Request(self.name, SYSTEM, tuple(tools), max_tokens, messages)
        reply = await self.model.reply(request, on_text=lambda _: None)
        self.session.spent.append(reply)
        return reply
