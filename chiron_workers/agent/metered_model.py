import asyncio
import contextlib
import itertools
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.billing.call_costs import next_call_cost
from chiron_workers.billing.reservations import release, reserve, write_off
from chiron_workers.billing.tariffs import Tariff
from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_transient, through_outage
from chiron_workers.errors import LeaseLost, MoneyReserved
from chiron_workers.model import Model, Request
from chiron_workers.model.failures import Failure
from chiron_workers.runs.entries import Block, MaxCost, Reply, ReportedCost, Usage
from chiron_workers.runs.leases import Run
from chiron_workers.runs.model_holds import end_refusal
from chiron_workers.settings import Settings

Settle = Callable[[Pool, Run, MaxCost], Awaitable[None]]
OVERCHARGE = (
    "The model's server reports {cost} for a call{limit}. The budget was charged no more than that. "
    "Look at what the server bills before the run continues."
)
_calls = itertools.count(1)
log = structlog.get_logger()

PAUSE_MIN_S = 0.25
PAUSE_MAX_S = 5.0
PATIENCE_S = 60.0  # for money that calls in flight have reserved; then the slot is for others


@dataclass(slots=True)
class Advance:
    """What was to be reserved for the next call by the write before it. Nothing of it outlives the execution."""

    max_cost: MaxCost | None = None
    is_reserved: bool = False  # for certain: the answer of the write may have been lost


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """A run's model that enforces its budgets: each try is reserved before, and settled, released or written off after."""

    run: Run
    model: Model
    pool: Pool
    settings: Settings
    advance: Advance = field(default_factory=Advance)
    _free_models: set[str] = field(default_factory=set)
    _tariffs: dict[str, Tariff] = field(default_factory=dict)  # that do not change while the run lasts

    async def context_tokens(self) -> int:
        """Tokens that a request and its reply may have together."""
        return await self.model.context_tokens(self.run.model)

    async def thinking(self, *, budget_tokens: int) -> Block | None:
        """What the run's requests say of thinking; None: nothing. `budget_tokens` is for the mode that needs one."""
        return await self.model.thinking(self.run.model, self.run.thinking, budget_tokens=budget_tokens)

    def shrink_context(self, tokens: int) -> None:
        """Assume at most so many tokens for the context window, since the server refused more."""
        self.model.shrink_context(self.run.model, tokens)

    async def reply(
        self,
        request: Request,
        *,
        prompt_tokens: int,
        searches: int = 0,
        on_text: Callable[[str], None] | None = None,
        is_heard: Callable[[], bool] = lambda: True,
    ) -> Reply:
        """The next complete reply; whoever commits it settles its `reserved`.

        Args:
            prompt_tokens: What the request has at most.
            searches: How many searches of the server the reply may run.
            on_text: Gets its words as they arrive, while `is_heard` says that somebody wants them.

        Raises:
            BudgetSpent: The call could cost more than may be spent.
            PriceUnknown: A budget binds it, and nobody knows what it costs.
            MoneyReserved: It could cost more than is left while other calls are in flight.
            LeaseLost: The run is no longer ours.
            RunFailed, KeyRefused, ModelUnavailable: As `Model.reply`.
        """
        tariff = self._tariff_of(request.model)
        cost_max = _max_cost(request, tariff, prompt_tokens=prompt_tokens, searches=searches)
        if not self._covers(cost_max) or self.model.may_wait(request.model):
            await self.free_advance()
        lease_for = timedelta(seconds=self.settings.lease_s)
        reservation = Reservation(
            self.run, self.pool, cost_max, self.settings.daily_budget_usd or None, lease_for, self.advance
        )
        try:
            reply = await self.model.reply(
                request,
                on_text=on_text,
                is_heard=is_heard,
                tariff=tariff,
                tokens_max=cost_max.tokens,
                before_try=reservation.reserve,
                on_failure=reservation.settle_failure,
            )
        except asyncio.CancelledError:
            await reservation.settle_cancelled()
            raise
        reply = _charged(reply, reservation.max_cost, reply_tokens=request.max_tokens)
        if reply.is_usage_unknown:
            log.warning("model.usage_unknown", run_id=str(self.run.id), model=request.model)
        return replace(reply, reserved=reservation.max_cost)

    async def end_refusal(self) -> None:
        """Let the other runs of the model go, where this one was to find out whether its server takes the key again."""
        if self.run.is_probe and not self._free_models:
            self._free_models.add(self.run.model)
            await through_outage(lambda: end_refusal(self.pool, self.run.model))

    def plan_advance(self, request: Request, *, prompt_tokens: int) -> MaxCost | None:
        """What is to be reserved with the write before a call; None where the call has to reserve for itself.

        Whoever writes says by `note_reserved` what became of it. What waits, for its turn or for the day's budget, reserves
        when it has waited.
        """
        if self.settings.daily_budget_usd or self.model.may_wait(request.model):
            return None
        cost = _max_cost(request, self._tariff_of(request.model), prompt_tokens=prompt_tokens)
        self.advance.max_cost = replace(cost, call=next(_calls))
        self.advance.is_reserved = False
        return self.advance.max_cost

    def note_reserved(self, is_reserved: bool | None) -> None:
        """Whether the call has its money; None: nobody knows."""
        self.advance.is_reserved = bool(is_reserved)
        if is_reserved is False:
            self.advance.max_cost = None

    async def free_advance(self) -> None:
        """Free what was reserved for a call that is not made, or not as it was expected. Raises LeaseLost."""
        cost = self.advance.max_cost
        if cost is not None:
            await through_outage(lambda: release(self.pool, self.run, cost))
            self.advance.max_cost = None

    def _covers(self, cost: MaxCost) -> bool:
        advance = self.advance.max_cost
        return (
            advance is not None
            and self.advance.is_reserved
            and advance.keeps_budgets == cost.keeps_budgets
            and advance.usd >= cost.usd
            and advance.tokens >= cost.tokens
        )

    def _tariff_of(self, model: str) -> Tariff:
        if model != self.run.model:
            return Tariff.of_model(model, self.settings.prices)
        tariff = self._tariffs.get(model) or Tariff.of(self.run, self.settings.prices)
        if tariff.is_frozen:
            self._tariffs[model] = tariff
        return tariff


def _max_cost(request: Request, tariff: Tariff, *, prompt_tokens: int, searches: int = 0) -> MaxCost:
    cost = next_call_cost(
        tariff.known_price,
        prompt_tokens=prompt_tokens,
        reply_tokens=request.max_tokens,
        searches=searches,
    )
    return replace(cost, keeps_budgets=tariff.keeps_budgets)


def _charged(reply: Reply, cost_max: MaxCost, *, reply_tokens: int) -> Reply:
    """The reply as it is charged: at most what was reserved, and all of it where its server does not say what it took."""
    if reply.is_usage_unknown:
        cost_usd = None if reply.cost_usd is None else cost_max.usd
        return replace(reply, usage=_most(cost_max, reply_tokens), cost_usd=cost_usd)
    usage, cost_usd = reply.usage, reply.cost_usd
    is_within = usage.tokens <= cost_max.tokens and (cost_usd is None or cost_usd <= cost_max.usd)
    if is_within:
        return reply
    return replace(
        reply,
        usage=usage if usage.tokens <= cost_max.tokens else _most(cost_max, reply_tokens),
        cost_usd=None if cost_usd is None else min(cost_usd, cost_max.usd),
        reported=ReportedCost(cost_usd, usage.tokens),
    )


def overcharge_of(replies: Sequence[Reply]) -> str:
    """Why a run has to pause, by what the server of its model reports for these replies; empty where it need not."""
    reply = next((reply for reply in replies if reply.reported is not None), None)
    if reply is None or reply.reported is None:
        return ""
    cost_max, usd = reply.reserved, reply.reported.usd
    cost = f"{reply.reported.tokens:,} tokens" + ("" if usd is None else f" ({usd:,.4f} USD)")
    limit = "" if cost_max is None else f" of at most {cost_max.tokens:,} tokens"
    limit += "" if usd is None or cost_max is None else f" ({cost_max.usd:,.4f} USD)"
    return OVERCHARGE.format(cost=cost, limit=limit)


def _most(cost_max: MaxCost, reply_tokens: int) -> Usage:
    return Usage(cost_max.tokens - reply_tokens, reply_tokens)


@dataclass(slots=True)
class Reservation:
    """The money of one call, try by try: reserved when it begins, released or written off when it fails."""

    run: Run
    pool: Pool
    max_cost: MaxCost
    daily_usd: Decimal | None
    lease_for: timedelta
    advance: Advance = field(default_factory=Advance)
    _settle: Settle | None = None  # what has to become of the money

    async def reserve(self) -> None:
        """Reserve; waits for a while where only calls in flight are in the way. What is reserved for it already it takes over."""
        if self.advance.max_cost is not None:
            self.max_cost, self.advance.max_cost = self.advance.max_cost, None
            self._settle = write_off
            return
        self.max_cost = replace(self.max_cost, call=next(_calls))
        pause_s, waited_s = PAUSE_MIN_S, 0.0
        while True:  # ends: the patience does
            self._settle = release  # a cancel leaves it open whether it was reserved
            try:
                await through_outage(
                    lambda: reserve(
                        self.pool, self.run, self.max_cost, daily_usd=self.daily_usd, lease_for=self.lease_for
                    )
                )
            except MoneyReserved:
                self._settle = None
                if waited_s >= PATIENCE_S:
                    raise
            else:
                self._settle = write_off
                return
            await asyncio.sleep(slept_s := random.uniform(pause_s / 2, pause_s))  # noqa: S311  # no secret
            waited_s += slept_s
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    async def settle_failure(self, failure: Failure) -> None:
        """Release the money of a try that brought no reply, or write it off if it may be billed."""
        await self.settle_try(maybe_billed=failure.maybe_billed)

    async def settle_try(self, *, maybe_billed: bool) -> None:
        """As `settle_failure`, of a try that is not one of a model."""
        if self._settle is not None and not maybe_billed:
            self._settle = release
        await self._settle_open()

    async def settle_cancelled(self) -> None:
        """Count the money of a call that was cancelled in flight as spent, unconfirmed; release it if none was made."""
        with contextlib.suppress(LeaseLost):
            await self._settle_open()

    async def _settle_open(self) -> None:
        settle = self._settle
        if settle is None:
            return
        try:
            await through_outage(lambda: settle(self.pool, self.run, self.max_cost))
        except (psycopg.Error, PoolTimeout) as error:  # the release of the run writes it off
            if not is_transient(error):
                raise
        self._settle = None
