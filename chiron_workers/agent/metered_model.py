import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

import psycopg
from psycopg_pool import PoolTimeout

from chiron_workers.billing.prices import max_cost
from chiron_workers.billing.reservations import release, reserve, write_off
from chiron_workers.db.connect import Pool, is_outage
from chiron_workers.db.retry import through_outage
from chiron_workers.errors import LeaseLost, MoneyReserved
from chiron_workers.model import Model, Request
from chiron_workers.model.failures import Wait
from chiron_workers.runs.entries import MaxCost, Reply
from chiron_workers.runs.leases import Run
from chiron_workers.settings import Settings

FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 5.0
PATIENCE_S = 60.0  # for money that calls in flight have reserved; then the slot is for others
FRAME_TOKENS = 1_000  # of what the API adds to a prompt by itself, such as its own words about tools


@dataclass(frozen=True, slots=True)
class PaidModel:
    """A run's model. Each try of a call is paid for: reserved before, settled with the reply or counted as lost."""

    run: Run
    model: Model
    pool: Pool
    settings: Settings

    async def context_tokens(self) -> int:
        """Tokens that a request and its reply may have together."""
        return await self.model.context_tokens(self.run.model)

    def shrink_context(self, tokens: int) -> None:
        """Take it that the context window has at most so many tokens."""
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
        most = max_cost(
            request.model,
            self.settings.prices,
            prompt_tokens=prompt_tokens + FRAME_TOKENS,
            reply_tokens=request.max_tokens,
            searches=searches,
        )
        lease_for = timedelta(seconds=self.settings.lease_s)
        flight = Flight(self.run, self.pool, most, self.settings.daily_budget_usd or None, lease_for)
        try:
            reply = await self.model.reply(
                request, on_text=on_text, before_try=flight.begin, on_wait=flight.failed
            )
        except asyncio.CancelledError:
            await flight.cut()
            raise
        return replace(reply, reserved=most)


@dataclass(slots=True)
class Flight:
    """The money of one call, try by try: reserved when it begins, accounted for when it fails."""

    run: Run
    pool: Pool
    most: MaxCost
    daily_usd: Decimal | None
    lease_for: timedelta
    is_reserved: bool = False

    async def begin(self) -> None:
        """Reserve; waits for a while where only calls in flight are in the way."""
        pause_s, waited_s = FIRST_PAUSE_S, 0.0
        while True:  # ends: the patience does
            try:
                await through_outage(
                    lambda: reserve(
                        self.pool, self.run, self.most, daily_usd=self.daily_usd, lease_for=self.lease_for
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
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    async def failed(self, wait: Wait) -> None:
        """Account for a try that brought no reply."""
        await self._account(write_off if wait.maybe_billed else release)

    async def cut(self) -> None:
        """Count the call as lost, if it is in flight."""
        with contextlib.suppress(LeaseLost):
            await self._account(write_off)

    async def _account(self, settle: Callable[[Pool, Run, MaxCost], Awaitable[None]]) -> None:
        if not self.is_reserved:
            return
        # Once only, for twice would free what another call has reserved, and after an outage nobody knows whether it
        # was done. If it was not, the release of the run counts the call as lost.
        self.is_reserved = False
        try:
            await settle(self.pool, self.run, self.most)
        except (psycopg.Error, PoolTimeout) as error:
            if not is_outage(error):
                raise
