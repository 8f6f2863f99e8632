"""The times of a subscription, and what each has brought against the time before."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Json

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import isolated
from chiron_workers.knowledge.subject_diff import SubjectDiff, between
from chiron_workers.runs.session import Session
from chiron_workers.states import Duty

SQL = load(__file__)
BATCHES_PER_PASS = 10  # of one look, so that it stays short; the next one goes on


@dataclass(frozen=True, slots=True)
class PastOccurrence:
    """What a time of a subscription has started, and what has become of its subject from `since`, the end of the time
    before (of a first time, its own beginning), to its end. `difference` is None while it is not finished."""

    batch_id: UUID
    due_at: datetime
    since: datetime
    finished_at: datetime | None
    difference: SubjectDiff | None


async def last_occurrences(
    session: Session, subscription_id: UUID, *, limit: int, entries_max: int = 1, batch_id: UUID | None = None
) -> list[PastOccurrence]:
    """The latest times of a subscription, latest first, or the one that started a batch.

    Args:
        entries_max: Entries of each kind of difference at most; the counts are whole.
    """
    args = {"subscription_id": subscription_id, "batch_id": batch_id, "limit": limit}
    occurrences = []
    for row in await session.rows(SQL["occurrences"], args):
        subject_id, now, ends = row.pop("subject_id"), row.pop("now"), row["finished_at"]
        difference = None
        # A clock that was set back has left times that are still ahead.
        if ends is not None and min(ends, now) > row["since"]:
            difference = await between(session, subject_id, row["since"], ends, limit=entries_max)
        occurrences.append(PastOccurrence(**row, difference=difference))
    return occurrences


async def occurrence_of(session: Session, batch_id: UUID, *, entries_max: int) -> PastOccurrence | None:
    """The time of a subscription that started a batch; None if none did."""
    row = await session.row(SQL["subscription_of"], {"batch_id": batch_id})
    if row is None:
        return None
    occurrences = await last_occurrences(
        session, row["subscription_id"], limit=1, entries_max=entries_max, batch_id=batch_id
    )
    return occurrences[0] if occurrences else None


async def compare_occurrences(pool: Pool) -> list[UUID]:
    """Hold what is finished against the time before; the batches that brought nothing, which are silent by now.

    Their completed runs are, but for those that somebody wrote to: who asks waits for the answer. It happens after the
    end, in whichever worker looks first, so that no ending waits for it. Several may look at once.
    """
    rows = await fetch_all(pool, SQL["to_compare"], {"limit": BATCHES_PER_PASS})
    silent_ids = []
    for row in rows:
        async with isolated(pool.connection, Duty.COMPARISONS, row["batch_id"], has_failed=row["has_failed"]):
            if await _compare(pool, row["batch_id"]):
                silent_ids.append(row["batch_id"])
    return silent_ids


async def _compare(pool: Pool, batch_id: UUID) -> bool:
    from chiron_workers.runs.notices import announce_news  # whoever only shows a batch needs none of it

    occurrence = await occurrence_of(Session(pool), batch_id, entries_max=1)
    if occurrence is None or occurrence.finished_at is None:  # it was deleted, or goes on again
        return False
    is_silent = occurrence.difference is not None and occurrence.difference.is_empty
    counts = Json(occurrence.difference.counts) if occurrence.difference else None
    args = {"batch_id": batch_id, "finished_at": occurrence.finished_at, "counts": counts}
    async with pool.connection() as connection, connection.transaction():
        if is_silent:
            await connection.execute(SQL["silence"], args)
        row = await (await connection.execute(SQL["compared"], args)).fetchone()
        if row is not None and occurrence.difference is not None and not is_silent:
            await announce_news(connection, batch_id, row["subscription_id"], occurrence.difference.counts)
    return is_silent
