"""Positions in Postgres: how far runs have come now, and how far those of a batch had come at a position."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID
from zlib import crc32

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import UsageError
from chiron_workers.pubsub.cursors import CursorText, Position, Snapshot

SQL = load(__file__)
SEQ_MAX = 2**31 - 1


@dataclass(slots=True)
class Heads:
    """How far the runs of one batch, or one run, have come; only those that may have come further since a snapshot."""

    seqs: dict[UUID, int] = field(default_factory=dict)
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """The heads of batches and runs by their ids, as one snapshot shows them; there is none of what is not there."""

    snapshot: Snapshot
    heads: dict[UUID, Heads]


async def survey(
    pool: Pool, *, batch_ids: Sequence[UUID], run_ids: Sequence[UUID], since: Snapshot | None
) -> Survey:
    """How far batches and runs have come; of a batch only runs that may have come further since a snapshot."""
    args = {"batch_ids": list(batch_ids), "run_ids": list(run_ids), "since": since.xmin if since else 0}
    rows = await fetch_all(pool, SQL["survey"], args)
    [text] = [row["snapshot"] for row in rows if row["snapshot"]]
    heads: dict[UUID, Heads] = {}
    for row in rows:
        if row["is_over"] is not None:
            heads[row["target_id"]] = Heads(is_over=row["is_over"])
    for row in rows:
        if row["run_id"] is not None and row["target_id"] in heads:
            heads[row["target_id"]].seqs[row["run_id"]] = row["seq"]
    return Survey(Snapshot.parse(text), heads)


async def seqs_at(pool: Pool, batch_id: UUID, position: Position) -> tuple[list[UUID], "array[int]"]:
    """The runs of a batch by their ids, and how many events of each there are up to a position.

    Raises:
        UsageError: The position is of another database.
    """
    snapshot = position.snapshot
    assert snapshot is not None
    args = {"batch_id": batch_id, "snapshot": str(snapshot), "xmin": snapshot.xmin, "xmax": snapshot.xmax}
    rows = await fetch_all(pool, SQL["seqs"], args)
    if not rows:
        raise UsageError("This event id is of another database; follow the batch from its beginning.")
    seqs = array("i", [row["seq"] for row in rows])
    if len(rows) == position.runs:
        for number, seq in position.exceptions.items():
            if number < len(seqs):
                seqs[number] = min(seq, SEQ_MAX)
    elif position.has_lags:
        # Runs were deleted, and which ones lag cannot be said: rather everything twice than anything never.
        seqs = array("i", bytes(seqs.itemsize * len(seqs)))
    return [row["id"] for row in rows], seqs


async def cursor_text(pool: Pool, batch_id: UUID) -> CursorText:
    """What reads and writes the cursors of a batch."""
    [row] = await fetch_all(pool, SQL["tag"])
    return CursorText(crc32(f"{row['place']}/{batch_id}".encode()))
