"""A model that a tool call asks while it runs."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chiron_workers.agent.metered_model import MeteredModel
from chiron_workers.agent.paid_commits import PaidCommits
from chiron_workers.errors import KeyRefused, ModelUnavailable
from chiron_workers.model import Request
from chiron_workers.runs.entries import Reply, SideQuestion
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.messages import Message, encoded

SEARCHES_MAX = 10  # of a server tool that names no limit
TOKENS_OF_A_SEARCH = 30_000  # a search adds what it found to the prompt; ten pages of results stay below
SYSTEM = "You help a research program. Do what is asked with the tools you have, and answer in one sentence."


@dataclass(frozen=True, slots=True)
class RunSideModel:
    """Asks a run's model on behalf of one of its tool calls.

    Each answer is committed and paid for before the tool gets it. A call that is made again, since nobody knows its
    result, is given the answers that it had, and asks only what it had not asked.
    """

    model: MeteredModel
    journal: Journal
    n: int  # the entry that made the call
    call_id: str
    commits: PaidCommits
    # The answers that the call has had, also in executions before.
    replies: list[Reply] = field(default_factory=list)
    # Of the run's own model, whatever the tool made of them.
    refusals: list[KeyRefused] = field(default_factory=list)
    _counts: Counter[str] = field(default_factory=Counter)

    @property
    def model_name(self) -> str:
        """The run's own model."""
        return self.model.run.model

    async def ask(
        self, question: str, *, tools: Sequence[dict[str, Any]], max_tokens: int, model: str = ""
    ) -> Reply:
        """One reply to one question, apart from the run's conversation.

        Args:
            model: Who is asked; empty: the run's own model.

        Raises:
            RunFailed: The model refuses the request.
            KeyRefused: The server of the run's own model refuses the key, so that the run has to wait.
            ModelUnavailable: The model cannot answer now, or it is another one and refuses the key.
            BudgetSpent, PriceUnknown, MoneyReserved: A budget has no room for the call.
            LeaseLost: The run is no longer ours.
        """
        run = self.model.run
        message = Message.of("user", [{"type": "text", "text": question}])
        definitions = [encoded(tool) for tool in tools]
        request = Request(model or run.model, SYSTEM, definitions, max_tokens, [message])
        key = self._key(request)
        stored_reply = await self.journal.read_side_reply(run, key)
        if stored_reply is not None:
            self.replies.append(stored_reply)
            return stored_reply
        searches = sum(tool.get("max_uses", SEARCHES_MAX) for tool in tools if "type" in tool)
        reply = await self._reply(request, searches=searches)
        await self.commits.commit(lambda: self._commit(key, reply), reply.reserved)
        return reply

    async def _reply(self, request: Request, *, searches: int) -> Reply:
        prompt_tokens = request.prompt_bytes + searches * TOKENS_OF_A_SEARCH
        try:
            return await self.model.reply(request, prompt_tokens=prompt_tokens, searches=searches)
        except KeyRefused as error:
            if request.model != self.model_name:  # the run itself can go on
                raise ModelUnavailable(str(error), retry_after_s=error.retry_after_s) from None
            self.refusals.append(error)
            raise

    async def _commit(self, key: SideQuestion, reply: Reply) -> None:
        await self.journal.append_side_reply(self.model.run, key, reply)
        self.replies.append(reply)

    def _key(self, request: Request) -> SideQuestion:
        is_own = request.model == self.model_name
        parts = [*request.tools, *request.messages[0].blocks, str(request.max_tokens).encode()]
        text = b"\n".join(parts if is_own else [*parts, request.model.encode()])
        digest = hashlib.sha256(text).hexdigest()
        self._counts[digest] += 1
        return SideQuestion(self.n, self.call_id, digest, self._counts[digest])
