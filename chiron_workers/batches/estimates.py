import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain

from psycopg.rows import DictRow

from chiron_workers.batches.precedents import NO_PRECEDENTS, Precedents, precedents_of
from chiron_workers.batches.submit import NewBatch, check
from chiron_workers.billing.budgets import Budget, run_budget_usd
from chiron_workers.billing.prices import Price, cost_usd, is_priced, max_cost, price_of
from chiron_workers.billing.reservations import left_today
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.runs.entries import Usage
from chiron_workers.settings import settings

SQL = load(__file__)
RUNS_MAX = 200  # runs that are looked at
# A run of a kind that never completed here: this many turns, each of which adds to a prompt that is cached.
TURNS = 15
PROMPT_TOKENS = 6_000  # of the first request: system prompt, tools, topic
TOKENS_A_TURN = 3_500  # of results, added to the prompt
REPLY_TOKENS = 500
DEAR_FACTOR = 2  # what a dear run costs, of the usual one, where nothing is known


@dataclass(frozen=True, slots=True)
class Kind:
    """What runs of one role and model are expected to cost; `basis` counts the runs that this is known from."""

    role: str
    model: str
    runs: int
    basis: int
    turns: float
    tokens: int
    usd: Decimal | None
    usd_of_dear: Decimal | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a batch is expected to cost, in all; None where a model has no price.

    `at_most_usd` is what its budgets allow; None where none in USD binds a run. `today_usd` is what is left of the day's
    money, if it has a budget; what that cannot pay goes on tomorrow.
    """

    runs: int
    usd: Decimal | None
    usd_if_dear: Decimal | None
    at_most_usd: Decimal | None
    kinds: tuple[Kind, ...]
    warnings: tuple[str, ...] = ()
    today_usd: Decimal | None = None
    precedents: Precedents = NO_PRECEDENTS


async def estimate(pool: Pool, batch: NewBatch, *, owner: str | None = None) -> Estimate:
    """What a batch would cost, by what runs of its kind have cost before, and what of it is new or was answered already.

    Args:
        owner: Whose earlier answers count; None: those of all.

    Raises:
        UsageError: As `submit` does.
    """
    # Beside the event loop, as in `submit`: a batch may have 100,000 topics.
    await asyncio.to_thread(check, batch)
    precedents = await precedents_of(pool, batch, owner=owner)
    counts = await asyncio.to_thread(lambda: Counter((run.role, run.model) for run in batch.runs))
    kinds = []
    for (role, model), runs in sorted(counts.items()):
        has_price = is_priced(model, settings().prices)
        args = {"role": role, "model": model, "is_priced": has_price, "limit": RUNS_MAX}
        [row] = await fetch_all(pool, SQL["like"], args)
        kinds.append(_kind(role, model, runs, row, has_price=has_price))
    return Estimate(
        len(batch.runs),
        _total((kind.usd, kind.runs) for kind in kinds),
        _total((kind.usd_of_dear, kind.runs) for kind in kinds),
        await asyncio.to_thread(_max_usd, batch),
        tuple(kinds),
        await asyncio.to_thread(lambda: (*precedents.warnings(), *budget_warnings(batch))),
        await left_today(pool, settings().daily_budget_usd),
        precedents,
    )


def budget_warnings(batch: NewBatch) -> Iterator[str]:
    """Why runs of a batch would pause before their first call, each once; a short prompt is assumed."""
    kinds = dict.fromkeys((run.model, run.budget) for run in batch.runs)
    shortages = (_shortages(batch.budget, model, budget) for model, budget in kinds)
    for budget, call in dict.fromkeys(chain.from_iterable(shortages)):
        yield f"{budget} cannot pay one call of {call} or more: such a run pauses at once. Give it a higher budget."


def _shortages(of_batch: Budget, model: str, of_run: Budget) -> Iterator[tuple[str, str]]:
    """The budgets that cannot pay one call of a model, each with the call: whose it is, and what it may cost or take."""
    price = price_of(model, settings().prices)
    rates = price if isinstance(price, Price) else None
    least = max_cost(rates, prompt_tokens=PROMPT_TOKENS, reply_tokens=settings().max_tokens)
    for budget_usd in (of_batch.usd, run_budget_usd(of_run, model)):
        if rates is not None and budget_usd is not None and budget_usd < least.usd:
            yield f"{budget_usd.normalize():f} USD", f"{model}, which may cost {least.usd:.2f} USD"
    for tokens in (of_batch.tokens, of_run.tokens):
        if tokens is not None and tokens < least.tokens:
            yield f"{tokens:,} tokens", f"{model}, which may take {least.tokens:,} tokens"


def typical_usage(model: str, max_turns: int) -> Usage:
    """What a run uses that nobody has seen the like of: each turn writes what it adds to the cache and reads the rest."""
    turns = min(TURNS, max_turns)
    tokens_per_turn = TOKENS_A_TURN + REPLY_TOKENS
    return Usage(
        output_tokens=turns * REPLY_TOKENS,
        cache_write_tokens=PROMPT_TOKENS + (turns - 1) * tokens_per_turn,
        cache_read_tokens=sum(PROMPT_TOKENS + turn * tokens_per_turn for turn in range(turns - 1)),
    )


def _kind(role: str, model: str, runs: int, row: DictRow, *, has_price: bool) -> Kind:
    if row["runs"]:
        usd, dear = (row["usd"], row["usd_of_dear"]) if has_price else (None, None)
        return Kind(role, model, runs, row["runs"], row["turns"], row["tokens"], usd, dear)
    usage = typical_usage(model, settings().max_turns)
    usd = cost_usd(model, usage, settings().prices)
    dear = None if usd is None else DEAR_FACTOR * usd
    return Kind(role, model, runs, 0, TURNS, usage.tokens, usd, dear)


def _total(parts: Iterable[tuple[Decimal | None, int]]) -> Decimal | None:
    costs = list(parts)
    if any(usd is None for usd, _ in costs):
        return None
    return sum((usd * runs for usd, runs in costs if usd is not None), Decimal())


def _max_usd(batch: NewBatch) -> Decimal | None:
    counts = Counter((run.budget, run.model) for run in batch.runs)
    of_runs = _total((run_budget_usd(budget, model), runs) for (budget, model), runs in counts.items())
    amounts = [usd for usd in (batch.budget.usd, of_runs) if usd is not None]
    return min(amounts, default=None)
