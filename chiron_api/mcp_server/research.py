"""Tools of MCP clients besides those of a run: research itself."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Annotated, Any, NotRequired, TypedDict
from uuid import UUID

from fastmcp.server.dependencies import get_context
from pydantic import Field

from chiron_api.steering import steer
from chiron_api.text import as_json, facts_phrase
from chiron_workers.batches.duplicates import duplicate_warnings
from chiron_workers.batches.ownership import require_visible
from chiron_workers.batches.steering import cancel
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find, parse_id, runs_of
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, KeyBudgetSpent, NotFound, ToolError, UsageError
from chiron_workers.roles import RoleName
from chiron_workers.settings import settings
from chiron_workers.states import FINAL_STATES, Effort, ThinkingMode
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

TOPICS_MAX = 100
FIRST_RUNS_MAX = 100
WAIT_MAX_S = 50  # many clients give up on a call after a minute
POLL_S = 1.0

Topics = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=TOPICS_MAX)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Usd = Annotated[float, Field(gt=0, le=10_000_000)]


class StartedResearch(TypedDict):
    """A batch that was submitted; `run_ids` in the order of its topics, `warnings` where topics are the same."""

    batch_id: str
    run_ids: list[str]
    is_new: bool
    warnings: NotRequired[list[str]]


class Cancellation(TypedDict):
    """How many runs ended at once, and how many their workers were asked to end."""

    cancelled: int
    asked: int


@tool
async def start_research(  # noqa: PLR0913  # each is an option of a batch
    store: Store,
    *,
    topics: Topics,
    subject: Name,
    role: RoleName = "research",
    model: Name | None = None,
    thinking: ThinkingMode | None = None,
    effort: Effort | None = None,
    budget_usd: Usd | None = None,
    max_turns: Annotated[int, Field(ge=1)] | None = None,
    idempotency_key: Name | None = None,
) -> StartedResearch:
    """Start research that goes on for minutes to hours: an agent for each topic finds sources and stores facts.

    It returns at once. get_run tells how far it is and what was answered; search finds the facts as they come.

    Args:
        topics: What to find out, one question or topic for each agent.
        subject: The subject that the facts belong to, by its id or any name; a new one is made.
        role: What the agents are.
        model: The model that plays them. Left out, the configured one.
        thinking: How the model thinks. Left out, what is configured.
        effort: How much effort the model makes. Left out, what is configured.
        budget_usd: What all of it may cost; it pauses there.
        max_turns: How many replies of the model each may take. Left out, what is configured.
        idempotency_key: Any text of your own. The same key with the same request starts nothing twice.

    Returns:
        batch_id, run_ids in the order of the topics, and is_new: false where this key had started it before. warnings, if
        topics are the same: each is researched and paid for; cancel the batch if you did not mean that.
    """
    from chiron_workers.pubsub.signals import notify

    runs = [
        NewRun(
            topic,
            role,
            subject,
            model or settings().model,
            max_turns or settings().max_turns,
            thinking=thinking,
            effort=effort,
        )
        for topic in topics
    ]
    budget = Budget(None if budget_usd is None else Decimal(str(budget_usd)), None)
    with tool_errors():
        new_batch = NewBatch(runs, subject, budget=budget, idempotency_key=idempotency_key)
        batch = await submit(store.session.pool, new_batch, principal=store.caller.principal)
    await notify(settings().redis_url, batch.batch_id)
    run_ids = [str(run_id) for run_id in batch.run_ids]
    research = StartedResearch(batch_id=str(batch.batch_id), run_ids=run_ids, is_new=batch.is_new)
    if warnings := duplicate_warnings(runs):
        research["warnings"] = warnings
    return research


@tool
async def get_run(
    store: Store, *, id: str, wait_s: Annotated[float, Field(ge=0, le=WAIT_MAX_S)] = 0
) -> dict[str, Any]:
    """See how far research is, and what it answered.

    Args:
        id: Id of a run or of a batch, as start_research gave it.
        wait_s: Seconds to wait for its end before answering, at most 50. Ask again with a wait rather than often.

    Returns:
        Of a run: state (queued, running, paused, completed, failed or cancelled), answer, error, facts, turns,
        spent_usd and more. Of a batch: the same sums, runs counted by state, and first_runs.
    """
    deadline = time.monotonic() + wait_s
    while True:
        with tool_errors():
            summary = await find(store.session.pool, id, owner=store.caller.visible_owner)
        rest_s = deadline - time.monotonic()
        if summary.state.is_final or rest_s <= 0:
            return await describe(store.session.pool, summary)
        await _report_progress(summary)
        await asyncio.sleep(min(POLL_S, rest_s))


@tool
async def cancel_run(store: Store, *, id: str) -> Cancellation:
    """End research early. What was found stays.

    Args:
        id: Id of a run, or of a batch to end all its open runs.

    Returns:
        cancelled: runs that ended at once; asked: runs whose worker ends them within seconds.
    """
    with tool_errors():
        target = parse_id(id)
        await require_visible(store.session.pool, target, store.caller.visible_owner)
        return await cancel_research(store.session.pool, target)


async def describe(pool: Pool, summary: BatchSummary | RunSummary) -> dict[str, Any]:
    """A run or a batch as the commands show it with --json; a batch with its first runs."""
    description: dict[str, Any] = json.loads(as_json(summary))
    if isinstance(summary, BatchSummary):
        runs = await runs_of(pool, summary.id, limit=FIRST_RUNS_MAX)
        description["first_runs"] = [
            {"id": str(run.id), "topic": run.topic, "state": run.state.value} for run in runs
        ]
    return description


async def _report_progress(summary: BatchSummary | RunSummary) -> None:
    """Tell a client that asked for it how far the research is: by runs that have ended, or by the turns of a run."""
    try:
        context = get_context()
    except RuntimeError:  # not called over MCP
        return
    if isinstance(summary, BatchSummary):
        ended_count, total = sum(summary.runs[state] for state in FINAL_STATES), sum(summary.runs.values())
        message = (
            f"{ended_count:,} of {total:,} runs have ended, {facts_phrase(summary.facts, summary.confirmed)}"
        )
        await context.report_progress(ended_count, total, message)
    else:
        facts = facts_phrase(summary.facts, summary.confirmed)
        await context.report_progress(
            summary.turns, None, f"{summary.state}, turn {summary.turns:,}, {facts}"
        )


async def cancel_research(pool: Pool, target: UUID) -> Cancellation:
    """End a run, or all open runs of a batch, and tell workers and watchers. Raises NotFound or Conflict."""
    effect = await steer(pool, settings().redis_url, target, cancel)
    return Cancellation(cancelled=effect.changed, asked=effect.requested)


@contextmanager
def tool_errors() -> Iterator[None]:
    """What is wrong with a request, as an error that the client's model can mend."""
    try:
        yield
    except (UsageError, NotFound, Conflict, KeyBudgetSpent) as error:
        raise ToolError(str(error)) from None
