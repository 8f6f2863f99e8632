"""Budgets that cannot pay one call: runs that have them pause before they begin."""

import asyncio
from collections.abc import Iterator
from decimal import ROUND_UP

from chiron_workers.batches.submit import NewBatch, NewRun
from chiron_workers.billing.budgets import Budget, run_budget_usd
from chiron_workers.billing.prices import CENT, is_priced
from chiron_workers.db.connect import Pool
from chiron_workers.estimates.first_calls import first_call_cost, full_call_cost, title_of
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.roles import PlannedRun
from chiron_workers.runs.entries import MaxCost
from chiron_workers.runs.prompt_sizes import question_bytes
from chiron_workers.settings import settings


async def budget_warnings(pool: Pool, batch: NewBatch) -> list[str]:
    """Why runs of a batch would pause before their first call, each once: by what a worker will reserve for that call."""
    warnings: dict[str, None] = {}
    for run in await asyncio.to_thread(_longest_runs, batch):
        budgets = _budgets(batch.budget, run)
        if not any(_shortages(budgets, run.model, full_call_cost(run.model))):
            continue
        cost = await first_call_cost(pool, await _planned(pool, batch, run), model=run.model)
        warnings |= dict.fromkeys(_shortages(budgets, run.model, cost))
    return list(warnings)


def _longest_runs(batch: NewBatch) -> list[NewRun]:
    """Of runs that differ in topic, context and subject alone, the one with the longest question, whose first call is dearest."""
    longest: dict[tuple[str, str, Budget], tuple[int, NewRun]] = {}
    for run in batch.runs:
        kind, size = (run.role, run.model, run.budget), _bytes_of(run)
        if kind not in longest or size > longest[kind][0]:
            longest[kind] = size, run
    return [run for _, run in longest.values()]


def _bytes_of(run: NewRun) -> int:
    return question_bytes(run.topic) + (question_bytes(run.context) if run.context else 0)


def _budgets(of_batch: Budget, run: NewRun) -> list[Budget]:
    return [of_batch, Budget(run_budget_usd(run.budget, run.model), run.budget.tokens)]


def _shortages(budgets: list[Budget], model: str, cost: MaxCost) -> Iterator[str]:
    for budget in budgets:
        if is_priced(model, settings().prices) and budget.usd is not None and budget.usd < cost.usd:
            least = cost.usd.quantize(CENT, ROUND_UP)
            yield _sentence(
                f"{budget.usd.normalize():f} USD", f"{model}, which may cost {least} USD", f"{least} USD"
            )
        if budget.tokens is not None and budget.tokens < cost.tokens:
            least_tokens = f"{cost.tokens:,} tokens"
            yield _sentence(
                f"{budget.tokens:,} tokens", f"{model}, which may take {least_tokens}", least_tokens
            )


def _sentence(budget: str, call: str, least: str) -> str:
    return f"{budget} cannot pay one call of {call}: such a run pauses at once. Give it {least} or more."


async def _planned(pool: Pool, batch: NewBatch, run: NewRun) -> PlannedRun:
    subject_id = slug(run.subject)
    return PlannedRun(
        run.role,
        subject_id,
        await title_of(pool, subject_id) or run.subject,
        run.topic,
        columns=batch.columns,
        subscription_id=batch.occurrence.subscription_id if batch.occurrence else None,
        since=run.earlier.since,
        found_before=run.earlier.answer,
        context=run.context,
    )
