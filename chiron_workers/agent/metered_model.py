import asyncio
import contextlib
import hashlib
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import psycopg
from psycopg_pool import PoolTimeout

from chiron_workers.agent.conversation import despite_cancellation
from chiron_workers.billing.prices import max_cost
from chiron_workers.billing.reservations import release, reserve, write_off
from chiron_workers.db.connect import Pool, is_transient, through_outage
from chiron_workers.errors import LeaseLost, MoneyReserved
from chiron_workers.model import Model, Request
from chiron_workers.model.failures import Failure
from chiron_workers.runs.entries import MaxCost, Reply, SideQuestion
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.messages import Message, encoded
from chiron_workers.settings import Settings

_calls = itertools.count(1)

PAUSE_MIN_S = 0.25
PAUSE_MAX_S = 5.0
PATIENCE_S = 60.0  # for money that calls in flight have reserved; then the slot is for others
FRAME_TOKENS = 1_000  # of what the API adds to a prompt by itself, such as its own words about tools
SEARCHES_MAX = 10  # of a server tool that names no limit
TOKENS_OF_A_SEARCH = 30_000  # a search adds what it found to the prompt; ten pages of results stay below
SYSTEM = "You help a research program. Do what is asked with the tools you have, and answer in one sentence."


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """A run's model that enforces its budgets: each try is reserved before, and settled, released or written off after."""

    run: Run
    model: Model
    pool: Pool
    settings: Settings

    async def context_tokens(self) -> int:
        """Tokens that a request and its reply may have together."""
        return await self.model.context_tokens(self.run.model)

    def shrink_context(self, tokens: int) -> None:
        """Assume at most so many tokens for the context window, since the server refused more."""
        self.model.shrink_context(self.run.model, tokens)

    async def reply(
        self, request: Request, *, prompt_tokens: int, searches: int = 0, on_text: Callable[[str], None]
    ) -> Reply:
        """The next complete reply; whoever commits it settles its `reserved`.

        Args:
            prompt_tokens: What the request has at most.
            searches: How many searches of the server the reply may run.

        Raises:
            BudgetSpent: The call could cost more than may be spent.
            MoneyReserved: It could cost more than is left while other calls are in flight.
            LeaseLost: The run is no longer ours.
            RunFailed, ModelUnavailable: As `Model.reply`.
        """
        reserved = max_cost(
            request.model,
            self.settings.prices,
            prompt_tokens=prompt_tokens + FRAME_TOKENS,
            reply_tokens=request.max_tokens,
            searches=searches,
        )
        lease_for = timedelta(seconds=self.settings.lease_s)
        reservation = Reservation(
            self.run, self.pool, reserved, self.settings.daily_budget_usd or None, lease_for
        )
        try:
            reply = await self.model.reply(
                request,
                on_text=on_text,
                before_try=reservation.reserve,
                on_failure=reservation.settle_failure,
            )
        except asyncio.CancelledError:
            await reservation.write_off()
            raise
        # The counts of a malformed reply may be anything; it cost what a call can at most.
        if reply.problem and reply.cost_usd is not None:
            reply = replace(reply, cost_usd=min(reply.cost_usd, reserved.usd))
        return replace(reply, reserved=reservation.max_cost)


@dataclass(slots=True)
class Reservation:
    """The money of one call, try by try: reserved when it begins, released or written off when it fails."""

    run: Run
    pool: Pool
    max_cost: MaxCost
    daily_usd: Decimal | None
    lease_for: timedelta
    is_reserved: bool = False

    async def reserve(self) -> None:
        """Reserve; waits for a while where only calls in flight are in the way."""
        self.max_cost = replace(self.max_cost, call=next(_calls))
        pause_s, waited_s = PAUSE_MIN_S, 0.0
        while True:  # ends: the patience does
            try:
                await through_outage(
                    lambda: reserve(
                        self.pool, self.run, self.max_cost, daily_usd=self.daily_usd, lease_for=self.lease_for
                    )
                )
            except MoneyReserved:
                if waited_s >= PATIENCE_S:
                    raise
            else:
                self.is_reserved = True
                return
            await asyncio.sleep(slept_s := random.uniform(pause_s / 2, pause_s))  # noqa: S311  # no secret
            waited_s += slept_s
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    async def settle_failure(self, failure: Failure) -> None:
        """Release the money of a try that brought no reply, or write it off if it may be billed."""
        await self._settle(write_off if failure.maybe_billed else release)

    async def write_off(self) -> None:
        """Count the money of a call that was cancelled in flight as spent, unconfirmed."""
        with contextlib.suppress(LeaseLost):
            await self._settle(write_off)

    async def _settle(self, settle: Callable[[Pool, Run, MaxCost], Awaitable[None]]) -> None:
        if not self.is_reserved:
            return
        self.is_reserved = False
        try:
            await through_outage(lambda: settle(self.pool, self.run, self.max_cost))
        except (psycopg.Error, PoolTimeout) as error:  # the release of the run writes it off
            if not is_transient(error):
                raise


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
    _counts: Counter[str] = field(default_factory=Counter)

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
            LeaseLost: The run is no longer ours.
        """
        run = self.model.run
        message = Message.of("user", [{"type": "text", "text": question}])
        definitions = [encoded(tool) for tool in tools]
        request = Request(run.model, SYSTEM, definitions, max_tokens, [message])
        key = self._key(request)
        reply = await self.journal.read_side_reply(run, key)
        if reply is None:
            searches = sum(tool.get("max_uses", SEARCHES_MAX) for tool in tools if "type" in tool)
            reply = await self.model.reply(
                request,
                prompt_tokens=request.prompt_bytes + searches * TOKENS_OF_A_SEARCH,
                searches=searches,
                on_text=lambda _: None,
            )
            await despite_cancellation(self.journal.append_side_reply(run, key, reply))
        return reply

    def _key(self, request: Request) -> SideQuestion:
        text = b"\n".join([*request.tools, *request.messages[0].blocks, str(request.max_tokens).encode()])
        digest = hashlib.sha256(text).hexdigest()
        self._counts[digest] += 1
        return SideQuestion(self.n, self.call_id, digest, self._counts[digest])
