"""Tools of MCP clients besides those of a run: research itself."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TypedDict

from fastmcp.server.dependencies import get_context
from pydantic import Field

from chiron_api.acts import runs, steering
from chiron_api.acts.batches import show_batch
from chiron_api.answers.basics import Answer
from chiron_api.mcp_server.act_tools import current_services
from chiron_api.services import Services
from chiron_api.text import as_json, facts_phrase
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find, parse_id, runs_of
from chiron_workers.errors import Conflict, KeyBudgetSpent, NotFound, ToolError, UsageError
from chiron_workers.states import FINAL_STATES
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

FIRST_RUNS_MAX = 100
WAIT_MAX_S = 50  # many clients give up on a call after a minute
POLL_S = 1.0


class Cancellation(TypedDict):
    """How many runs ended at once, and how many their workers were asked to end."""

    cancelled: int
    asked: int


@tool
async def get_run(
    store: Store, *, id: str, wait_s: Annotated[float, Field(ge=0, le=WAIT_MAX_S)] = 0
) -> dict[str, Any]:
    """See how far research is, and what it answered.

    Args:
        id: Id of a run or of a batch, as start_research gave it; also the id of a batch with `#3` behind it, for the run
            of its third topic.
        wait_s: Seconds to wait for its end before answering, at most 50. Ask again with a wait rather than often.

    Returns:
        Of a run: run_number (the place of its topic in its batch), state (queued, running, paused, completed, failed or
        cancelled), answer, error, facts, turns,
        spent_usd and more. Of a batch: the same sums, runs counted by state, and first_runs.
    """
    deadline = time.monotonic() + wait_s
    while True:
        with tool_errors():
            summary = await find(store.session.pool, id, owner=store.caller.visible_owner)
        rest_s = deadline - time.monotonic()
        if summary.state.is_final or rest_s <= 0:
            return await describe(current_services(), summary)
        await _report_progress(summary)
        await asyncio.sleep(min(POLL_S, rest_s))


@tool
async def cancel_run(store: Store, *, id: str) -> Cancellation:
    """End research early. What was found stays.

    Args:
        id: Id of a run, or of a batch to end all its open runs; also the id of a batch with `#3` behind it, for a run of it.

    Returns:
        cancelled: runs that ended at once; asked: runs whose worker ends them within seconds.
    """
    with tool_errors():
        # By a whole id: a name, a shortened id or `last` might end other research than was meant.
        batch_id, mark, _ = id.partition("#")
        whole = id if mark and parse_id(batch_id) else str(parse_id(id))
        summary = await find(store.session.pool, whole, owner=store.caller.visible_owner)
        return await cancel_research(current_services(), summary)


async def describe(services: Services, summary: BatchSummary | RunSummary) -> dict[str, Any]:
    """A run or a batch as HTTP shows it; a batch with its first runs."""
    if isinstance(summary, RunSummary):
        members = _members(await runs.show_run(services, summary.id))
        return {"id": members.pop("id"), "run_number": members.pop("number")} | members
    first_runs = await runs_of(services.pool, summary.id, limit=FIRST_RUNS_MAX)
    return _members(await show_batch(services, summary.id)) | {
        "first_runs": [
            {"id": str(run.id), "run_number": run.number, "topic": run.topic, "state": run.state.value}
            for run in first_runs
        ]
    }


def _members(answer: Answer) -> dict[str, Any]:
    members: dict[str, Any] = json.loads(as_json(answer))
    return members


async def _report_progress(summary: BatchSummary | RunSummary) -> None:
    """Tell a client that asked for it how far the research is: by runs that have ended, or by the turns of a run."""
    try:
        context = get_context()
    except RuntimeError:  # not called over MCP
        return
    if isinstance(summary, BatchSummary):
        ended_count, total = sum(summary.runs[state] for state in FINAL_STATES), sum(summary.runs.values())
        message = f"{ended_count:,} of {total:,} runs have ended, {facts_phrase(summary.facts, summary.confirmed, summary.cited)}"
        await context.report_progress(ended_count, total, message)
    else:
        facts = facts_phrase(summary.facts, summary.confirmed, summary.cited)
        await context.report_progress(
            summary.turns, None, f"{summary.state}, turn {summary.turns:,}, {facts}"
        )


async def cancel_research(services: Services, summary: BatchSummary | RunSummary) -> Cancellation:
    """End a run, or all open runs of a batch, and tell workers and watchers. Raises NotFound or Conflict."""
    act = steering.cancel_run if isinstance(summary, RunSummary) else steering.cancel_batch
    effect = await act(services, summary.id)
    return Cancellation(cancelled=effect.changed, asked=effect.asked)


@contextmanager
def tool_errors() -> Iterator[None]:
    """Raise what is wrong with a request as an error that the client's model can correct."""
    try:
        yield
    except (UsageError, NotFound, Conflict, KeyBudgetSpent) as error:
        raise ToolError(str(error)) from None
