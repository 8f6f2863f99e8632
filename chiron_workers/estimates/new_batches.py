"""The estimated cost of a batch, and whether its budgets can pay the first call of each run."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from chiron_workers.batches.precedents import NO_PRECEDENTS, Precedents, precedents_of
from chiron_workers.batches.similar_runs import Basis, SimilarRuns, similar_runs
from chiron_workers.batches.submit import NewBatch, check
from chiron_workers.billing.budgets import run_budget_usd
from chiron_workers.billing.prices import rates_of
from chiron_workers.billing.spending import left_today
from chiron_workers.db.connect import Pool
from chiron_workers.estimates.shortages import budget_warnings
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.settings import settings


@dataclass(frozen=True, slots=True)
class Kind:
    """The expected cost of each run of a role and model; `basis` counts the completed runs that this is known from.

    `rests_on` says which runs these are: of the same subject, of all subjects, or none (an assumption).
    """

    role: str
    model: str
    runs: int
    basis: int
    turns: float
    tokens: int
    usd: Decimal | None
    usd_of_dear: Decimal | None
    rests_on: Basis


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected cost of a batch; None where a model has no price.

    `at_most_usd` is the most that its budgets allow; None where none in USD binds a run. `today_usd` is the rest of the daily
    budget, if there is one; runs that it cannot pay continue tomorrow.
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
    """Estimate the cost of a batch from similar runs, and look up its precedents.

    Args:
        owner: Whose earlier answers count; None: those of all.

    Raises:
        UsageError: As `submit` does.
    """
    # Beside the event loop, as in `submit`: a batch may have 100,000 topics.
    await asyncio.to_thread(check, batch)
    precedents = await precedents_of(pool, batch, owner=owner)
    counts = await asyncio.to_thread(lambda: Counter((run.role, run.model) for run in batch.runs))
    subject_ids = await asyncio.to_thread(lambda: sorted({slug(run.subject) for run in batch.runs}))
    kinds = []
    for (role, model), runs in sorted(counts.items()):
        similar = await similar_runs(
            pool,
            role=role,
            model=model,
            subject_ids=subject_ids,
            price=rates_of(model, settings().prices),
            max_turns=settings().max_turns,
        )
        kinds.append(_kind(role, model, runs, similar))
    return Estimate(
        len(batch.runs),
        _total((kind.usd, kind.runs) for kind in kinds),
        _total((kind.usd_of_dear, kind.runs) for kind in kinds),
        await asyncio.to_thread(_max_usd, batch),
        tuple(kinds),
        (*precedents.warnings(), *await budget_warnings(pool, batch)),
        await left_today(pool, settings().daily_budget_usd),
        precedents,
    )


def _kind(role: str, model: str, runs: int, similar: SimilarRuns) -> Kind:
    return Kind(
        role,
        model,
        runs,
        basis=similar.runs,
        turns=similar.turns,
        tokens=similar.tokens,
        usd=similar.usd,
        usd_of_dear=similar.usd_of_dear,
        rests_on=similar.basis,
    )


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
