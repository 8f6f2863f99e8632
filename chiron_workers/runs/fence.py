"""What every write under a lease has in common, and the events that commit with it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.public_addresses import without_secrets, without_secrets_within
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind

SHARDS = 16  # rows of a day's spending, and of a batch's sums
NewEvent = tuple[EventKind, Mapping[str, Any]]


@dataclass(slots=True)
class Progress:
    """How many steps of a run are surely committed, as far as its holder knows: entries, results, answers to its tools."""

    steps: int = 0


@dataclass(frozen=True, slots=True)
class LeasedRun:
    """A run under a lease. Number, token and progress fence every write.

    The number orders the acquisitions of a run. A failover to a standby that lagged behind takes it back, and the next
    acquisition gives it out again; the token is random, and no other acquisition has it. A failover that keeps the acquisition
    may take back steps that were committed under it; the progress tells.
    """

    id: UUID
    batch_id: UUID
    lease: int
    token: UUID
    progress: Progress = field(kw_only=True, compare=False, default_factory=Progress)


def lease_columns(run: LeasedRun) -> dict[str, Any]:
    """The parameters that say under which lease a statement writes or reads."""
    return {"run_id": run.id, "lease": run.lease, "token": run.token, "steps": run.progress.steps}


def fence(run: LeasedRun, events: Sequence[NewEvent]) -> dict[str, Any]:
    """The parameters of every write under a lease: the run, its lease, and the events that commit with it."""
    return lease_columns(run) | {
        "shard": shard_of(run.id),
        "event_count": len(events),
        # Strings, since psycopg dumps arrays in Python; JSON holds no raw line breaks.
        "kinds": ",".join(kind for kind, _ in events),
        # Watchers, webhooks and logs get the events.
        "datas": "\n".join(without_secrets(json_text(data)) for _, data in events),
    }


def numbered_events(run: LeasedRun, row: DictRow, events: Sequence[NewEvent]) -> list[Event]:
    """The events as the write numbered them."""
    return [
        Event(
            run.batch_id,
            run.id,
            row["seq_before"] + position,
            kind,
            row["at"],
            without_secrets_within(dict(data)),
        )
        for position, (kind, data) in enumerate(events, start=1)
    ]


def shard_of(run_id: UUID) -> int:
    """Which row of a day's spending a run adds to."""
    return run_id.int % SHARDS


def json_text(data: Any) -> str:
    """JSON as Postgres takes it. Raises ValueError for NaN and infinite numbers, which it does not take."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can carry and UTF-8 cannot
        return json.dumps(data, allow_nan=False)
    return text
