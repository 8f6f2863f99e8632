from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.batches.ownership import require_visible
from chiron_workers.batches.references import RUN_NAME, id_of, run_of_number
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.ids import EPOCH, first_id
from chiron_workers.problems import SEE_BATCHES, describe, see_runs
from chiron_workers.runs.usage import USAGE_SQL, RunUsage
from chiron_workers.states import RunState

SQL = load(__file__, USAGE_SQL)
EVALUATIONS_SHOWN = 20
REASONS_SHOWN = 5
JUDGED_CHARS_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class BatchSummary(RunUsage):
    """A batch with the sums of its runs; `runs` counts them by state. The first of them may start at `ready_at`.

    `facts` are those stored first by its runs, `confirmed` counts how often they met one that another run had stored, `cited`
    how often they cite a further one. `nothing_found` counts the runs that completed without any of these.
    `reasons` say why runs of it failed or paused, each {state, kind, message of one of them, runs, remedies}, the most
    frequent first. `reserved_usd` is what calls in flight may cost;
    `pruned` counts the runs whose journal is gone, `silent` those that found nothing to bother anybody with.
    """

    id: UUID
    name: str
    subject_id: str
    state: RunState
    runs: dict[str, int]
    facts: int
    confirmed: int
    cited: int
    nothing_found: int
    turns: int
    budget_usd: Decimal | None
    budget_tokens: int | None
    reserved_usd: Decimal
    concurrency: int | None
    created_at: datetime
    ready_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    pruned: int
    silent: int
    held: list[dict[str, str]]
    reasons: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RunSummary(RunUsage):
    """A run as people see it; `error` is {kind, message, remedies} or None. What was pruned has no journal and no events.

    `number` is its place among the topics of its batch, from 1; `context` the user's background to the topic.

    `evaluations` are the texts that it had judged, newest first and 20 at most, each {id, at, model, question, text,
    text_chars, overall, scores}, with the first 2,000 characters of the text; among the runs of a batch they are left out.
    """

    id: UUID
    batch_id: UUID
    number: int
    role: str
    subject_id: str
    topic: str
    context: str | None
    model: str
    state: RunState
    attempt: int
    turns: int
    facts: int
    confirmed: int
    cited: int
    nothing_found: bool
    budget_usd: Decimal | None
    budget_tokens: int | None
    reserved_usd: Decimal
    error: dict[str, Any] | None
    answer: str | None
    ready_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    pruned_at: datetime | None
    silent: bool
    held: dict[str, str] | None
    evaluations: list[dict[str, Any]] = field(default_factory=list)


async def summary(pool: Pool, batch_id: UUID) -> BatchSummary:
    """One batch. Raises NotFound."""
    rows = await fetch_all(pool, SQL["summaries"], _summary_args([batch_id]))
    if not rows:
        raise NotFound(f"There is no batch {batch_id}.", remedies=(SEE_BATCHES,))
    return _batch(rows[0])


async def newest(
    pool: Pool, *, limit: int, before: UUID | None = None, owner: str | None = None
) -> list[BatchSummary]:
    """The newest batches, newest first; with `before` those older than that batch, with `owner` those of one owner."""
    ids = [
        row["id"]
        for row in await fetch_all(pool, SQL["newest"], {"limit": limit, "before": before, "owner": owner})
    ]
    return await summaries_of(pool, ids)


async def summaries_of(pool: Pool, batch_ids: list[UUID]) -> list[BatchSummary]:
    """Those of the batches that there are, newest first."""
    return [_batch(row) for row in await fetch_all(pool, SQL["summaries"], _summary_args(batch_ids))]


async def run_summary(pool: Pool, run_id: UUID) -> RunSummary:
    """One run. Raises NotFound."""
    rows = await fetch_all(
        pool, SQL["run"], {"run_id": run_id, "evaluations": EVALUATIONS_SHOWN, "chars": JUDGED_CHARS_SHOWN}
    )
    if not rows:
        raise NotFound(f"There is no run {run_id}.", remedies=(SEE_BATCHES,))
    return _run(rows[0])


async def runs_of(pool: Pool, batch_id: UUID, *, limit: int, nothing_found: bool = False) -> list[RunSummary]:
    """The first runs of a batch, in the order of its topics; of those that found nothing, if only these are meant."""
    args = {"batch_id": batch_id, "limit": limit, "nothing_found": nothing_found}
    return [_run(row) for row in await fetch_all(pool, SQL["runs_of"], args)]


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are meant; None: all.

    Args:
        owner: Only runs of batches of this owner; None: all.
        owner_name: Whose batches are meant, of those that are seen.
        since: When they were submitted, at the earliest.
        topic: Words that the topic contains, in any case of letters.
    """

    batch_id: UUID | None = None
    state: RunState | None = None
    subject_id: str | None = None
    owner: str | None = None
    nothing_found: bool | None = None
    model: str | None = None
    owner_name: str | None = None
    since: datetime | None = None
    topic: str | None = None

    def args(self) -> dict[str, Any]:
        """The parameters of the condition `is_meant`; ids sort by the time at which they were made."""
        members = {field.name: getattr(self, field.name) for field in fields(self)}
        return members | {"first_id": self.since and first_id(max(self.since, EPOCH))}


async def newest_runs(
    pool: Pool, which: RunFilter, *, limit: int, before: UUID | None = None
) -> list[RunSummary]:
    """The newest runs, newest first; with `before` those older than that run."""
    args = which.args() | {"limit": limit, "before": before}
    return [_run(row) for row in await fetch_all(pool, SQL["newest_runs"], args)]


async def count_runs(pool: Pool, which: RunFilter, *, up_to: int) -> int:
    """How many runs there are; `up_to` where there are as many or more."""
    [row] = await fetch_all(pool, SQL["count"], which.args() | {"limit": up_to})
    return int(row["runs"])


async def find(pool: Pool, text: str, *, owner: str | None = None) -> BatchSummary | RunSummary:
    """The batch or run that somebody names, as `id_of` takes it.

    Args:
        owner: Who asks, and sees what is its own. It names the whole id, of a run also as `#3` behind that of its batch: a
            beginning, a name and `last` would tell of those of others.

    Raises:
        UsageError: The text is no id, or means several.
        NotFound: Nothing has this id.
    """
    target = await (id_of(pool, text) if owner is None else whole_id(pool, text, owner=owner))
    await require_visible(pool, target, owner)
    rows = await fetch_all(pool, SQL["what_is"], {"id": target})
    match rows[0]["what"] if rows else None:
        case "batch":
            return await summary(pool, rows[0]["id"])
        case "run":
            return await run_summary(pool, rows[0]["id"])
    raise NotFound(f"No batch and no run has the id {text}.", remedies=(SEE_BATCHES,))


async def find_run(pool: Pool, text: str) -> RunSummary:
    """The run that somebody names. Raises as `find`, and UsageError where it is a batch."""
    target = await find(pool, text)
    if isinstance(target, BatchSummary):
        raise UsageError(f"{text} is a batch; name one of its runs.", remedies=(see_runs(target.id),))
    return target


async def whole_id(pool: Pool, text: str, *, owner: str | None) -> UUID:
    """The id that a text spells, of a run also as `#3` behind that of its batch.

    Args:
        owner: Who asks; to it a batch of somebody else is as if it were not there.

    Raises:
        UsageError: The text is no id.
        NotFound: The batch, or the run of this number, is not there.
    """
    match = RUN_NAME.fullmatch(text.strip())
    if match is None:
        return parse_id(text)
    batch_id = parse_id(match[1])
    await require_visible(pool, batch_id, owner)
    return await run_of_number(pool, batch_id, int(match[2]))


def parse_id(text: str) -> UUID:
    """The id that a text spells. Raises UsageError where it is none."""
    try:
        return UUID(text.strip())
    except ValueError:
        raise UsageError(
            f"{text[:60]!r} is no id; an id looks like 0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa."
        ) from None


def batch_state(counts: Mapping[str, int]) -> RunState:
    """The state of a batch, from how many of its runs are in each state.

    A batch runs as long as anything moves or has moved; at its end one failed run makes it failed, and it is
    completed only if every run is.
    """
    present = {RunState(state) for state, count in counts.items() if count}
    if present == {RunState.QUEUED}:
        return RunState.QUEUED
    if present & {RunState.RUNNING, RunState.QUEUED}:
        return RunState.RUNNING
    for state in (RunState.PAUSED, RunState.FAILED, RunState.CANCELLED):
        if state in present:
            return state
    return RunState.COMPLETED


def _summary_args(batch_ids: list[UUID]) -> dict[str, Any]:
    return {"batch_ids": batch_ids, "reasons": REASONS_SHOWN}


def _batch(row: DictRow) -> BatchSummary:
    present = row.pop("counts")
    counts = {state.value: present.get(state, 0) for state in RunState}
    reasons = [describe(reason, run_id=None, batch_id=row["id"]) for reason in row.pop("reasons")]
    return BatchSummary(**row, state=batch_state(counts), runs=counts, reasons=reasons)


def _run(row: DictRow) -> RunSummary:
    error = row["error"] and describe(row["error"], run_id=row["id"], batch_id=row["batch_id"])
    return RunSummary(**{**row, "state": RunState(row["state"]), "error": error})
