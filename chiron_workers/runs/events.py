import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load

SQL = load(__file__)
PAGE_ROWS = 2_000
ON_REQUEST = {"reason": "asked for"}  # of what somebody stopped


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a run. `seq` counts from 1 without a gap; None: never stored."""

    batch_id: UUID
    run_id: UUID
    seq: int | None
    kind: str  # an EventKind, or one that only a newer version knows
    at: datetime
    data: dict[str, Any]

    def to_json(self) -> str:
        """One line of JSON, in ASCII so that no terminal takes a part of it for a command."""
        fields = {
            "batch_id": str(self.batch_id),
            "run_id": str(self.run_id),
            "seq": self.seq,
            "kind": str(self.kind),
            "at": self.at.isoformat(),
            "data": self.data,
        }
        return json.dumps(fields, default=str)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The event that a message carries. Raises ValueError, KeyError or TypeError for anything else."""
        fields = json.loads(text)
        seq, data = fields["seq"], fields["data"]
        if not isinstance(seq, int | None) or not isinstance(data, dict):
            raise TypeError("an event has a number and data")
        return cls(
            UUID(str(fields["batch_id"])),
            UUID(str(fields["run_id"])),
            seq,
            str(fields["kind"]),
            datetime.fromisoformat(fields["at"]),
            data,
        )


@dataclass(frozen=True, slots=True)
class Heads:
    """How far each run has come (its newest seq) in one snapshot, and whether nothing more will come."""

    seqs: dict[UUID, int]
    is_over: bool


async def heads(pool: Pool, *, batch_id: UUID | None = None, run_id: UUID | None = None) -> Heads:
    """How far a run, or each run of a batch, has come; no runs at all if there is no such id.

    A number is handed out in the transaction that writes its event, so every event up to a head can be read.
    """
    query = SQL["heads_of_run"] if batch_id is None else SQL["heads_of_batch"]
    args = {"run_id": run_id, "batch_id": batch_id}
    rows = await fetch_all(pool, query, args)
    return Heads({row["id"]: row["seq"] for row in rows}, is_over=bool(rows) and rows[0]["is_over"])


async def read_page(pool: Pool, after: Mapping[UUID, int], *, each: int | None = None) -> list[Event]:
    """The next events of these runs, each run's after the seq given with it, about PAGE_ROWS in all.

    A run's events come in order of seq; events of different runs roughly in order of time.

    Args:
        each: How many events of a run at most, if not its share of PAGE_ROWS.
    """
    args = {
        "run_ids": list(after),
        "seqs": list(after.values()),
        "first": min(after, default=None),
        "last": max(after, default=None),
        "each": each or max(1, PAGE_ROWS // max(1, len(after))),
    }
    return [Event(**row) for row in await fetch_all(pool, SQL["page"], args)]
