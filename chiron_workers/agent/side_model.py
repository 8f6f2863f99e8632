"""A model that a tool call asks while it runs."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import psycopg

from chiron_workers.agent.conversation import despite_cancellation
from chiron_workers.agent.metered_model import MeteredModel
from chiron_workers.billing.reservations import write_off
from chiron_workers.db.outages import through_outage
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
    result, is given the answers that it had, and asks only what it had not asked. A context manager: its end waits for the
    commits for which the tool did not wait, since its time was over.
    """

    model: MeteredModel
    journal: Journal
    n: int  # the entry that made the call
    call_id: str
    # That the call has had, those of executions before too.
    replies: list[Reply] = field(default_factory=list)
    new_replies: list[Reply] = field(default_factory=list)  # of this execution
    _counts: Counter[str] = field(default_factory=Counter)
    _commits: set["asyncio.Task[None]"] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._commits:
            is_cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
            await despite_cancellation(self._finish_commits(), is_cancelled=is_cancelled)

    async def _finish_commits(self) -> None:
        outcomes = await asyncio.gather(*self._commits, return_exceptions=True)
        for error in outcomes:
            if error is not None:
                raise error

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
            ModelUnavailable: It cannot answer now.
            BudgetSpent, PriceUnknown, MoneyReserved: A budget has no room for the call.
            LeaseLost: The run is no longer ours.
        """
        run = self.model.run
        message = Message.of("user", [{"type": "text", "text": question}])
        definitions = [encoded(tool) for tool in tools]
        request = Request(model or run.model, SYSTEM, definitions, max_tokens, [message])
        key = self._key(request)
        reply = await self.journal.read_side_reply(run, key)
        if reply is not None:
            self.replies.append(reply)
        else:
            searches = sum(tool.get("max_uses", SEARCHES_MAX) for tool in tools if "type" in tool)
            reply = await self.model.reply(
                request,
                prompt_tokens=request.prompt_bytes + searches * TOKENS_OF_A_SEARCH,
                searches=searches,
            )
            commit = asyncio.create_task(self._commit(key, reply))
            self._commits.add(commit)
            try:
                await asyncio.shield(commit)
            finally:
                if commit.done():
                    self._commits.discard(commit)
        return reply

    async def _commit(self, key: SideQuestion, reply: Reply) -> None:
        run = self.model.run
        try:
            await self.journal.append_side_reply(run, key, reply)
            self.replies.append(reply)
            self.new_replies.append(reply)
        except psycopg.Error:
            if reserved := reply.reserved:
                await through_outage(lambda: write_off(self.model.pool, run, reserved))
            raise

    def _key(self, request: Request) -> SideQuestion:
        is_own = request.model == self.model_name
        parts = [*request.tools, *request.messages[0].blocks, str(request.max_tokens).encode()]
        text = b"\n".join(parts if is_own else [*parts, request.model.encode()])
        digest = hashlib.sha256(text).hexdigest()
        self._counts[digest] += 1
        return SideQuestion(self.n, self.call_id, digest, self._counts[digest])
