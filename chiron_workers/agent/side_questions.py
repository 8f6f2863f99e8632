from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chiron_workers.agent.metered_model import MeteredModel
from chiron_workers.model import Request
from chiron_workers.runs.entries import Reply
from chiron_workers.runs.messages import Message, encoded
from chiron_workers.runs.session import Session

SEARCHES_MAX = 10  # of a server tool that names no limit
TOKENS_OF_A_SEARCH = 30_000  # a search adds what it found to the prompt; ten pages of results stay below
SYSTEM = "You help a research program. Do what is asked with the tools you have, and answer in one sentence."


@dataclass(frozen=True, slots=True)
class RunSideModel:
    """Asks a run's model on behalf of one of its tools; what it costs commits with the tool's result."""

    model: MeteredModel
    session: Session

    @property
    def model_name(self) -> str:
        """The run's own model."""
        return self.model.run.model

    async def ask(self, question: str, *, tools: Sequence[dict[str, Any]], max_tokens: int) -> Reply:
        """One reply to one question, apart from the run's conversation.

        Raises:
            RunFailed: The model refuses the request.
            ModelUnavailable: It cannot answer now.
            BudgetSpent, MoneyReserved: A budget has no room for the call.
        """
        message = Message.of("user", [{"type": "text", "text": question}])
        definitions = [encoded(tool) for tool in tools]
        request = Request(self.model.run.model, SYSTEM, definitions, max_tokens, [message])
        searches = sum(tool.get("max_uses", SEARCHES_MAX) for tool in tools if "type" in tool)
        prompt_tokens = request.prompt_bytes + searches * TOKENS_OF_A_SEARCH
        reply = await self.model.reply(
            request, prompt_tokens=prompt_tokens, searches=searches, on_text=lambda _: None
        )
        self.session.spent.append(reply)
        return reply
