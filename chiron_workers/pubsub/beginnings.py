"""Beginnings of streams: what a batch or a run has come to, its last events, and the position right after them."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.pubsub.cursors import CursorText, Position, Snapshot
from chiron_workers.pubsub.feeds import Feed, StreamedEvent
from chiron_workers.runs.events import Event
from chiron_workers.runs.usage import USAGE_SQL, RunUsage
from chiron_workers.states import EventKind, RunState

SQL = load(__file__, USAGE_SQL)
OF_BATCH, OF_RUN = sql.SQL("batch_id = %(batch_id)s"), sql.SQL("id = %(run_id)s")
RECENT_EVENTS = 50


@dataclass(frozen=True, slots=True)
class Sums(RunUsage):
    """What a batch, or a run, has come to: `runs` counts by state, `events` are all that there are so far.

    `left_out` of them are older than those that a stream goes on with.
    """

    runs: dict[str, int]
    facts: int
    confirmed: int
    cited: int
    nothing_found: int
    turns: int
    reserved_usd: Decimal
    started_at: datetime | None
    events: int
    left_out: int


@dataclass(frozen=True, slots=True)
class RunAtBeginning:
    """A run as it was when a stream began."""

    id: UUID
    number: int
    topic: str
    state: RunState
    facts: int
    confirmed: int
    cited: int
    turns: int


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a stream begins that does not tell everything, all in one snapshot of Postgres.

    Every event is in the sums, and either older than the `recent` ones, or one of them, or comes later.

    Attributes:
        id: Where the recent events begin; `end_id` is where they end.
        recent: The newest events in order of time; of a run they are read by its seq, and are none here.
        seqs: How many events of each run of a batch there are, in the order of `run_ids`.
        runs: The runs with what is shown of them, if they were asked for.
    """

    batch_id: UUID | None
    run_id: UUID | None
    at: datetime
    sums: Sums
    id: str
    end_id: str
    recent: Sequence[StreamedEvent] = ()
    run_ids: Sequence[UUID] = ()
    seqs: "array[int]" = field(default_factory=lambda: array("i"))
    runs: Sequence[RunAtBeginning] = ()

    def document(self) -> Mapping[str, Any]:
        """The beginning in the form of an event, of no seq and of all runs."""
        return {
            "batch_id": self.batch_id,
            "run_id": self.run_id,
            "seq": None,
            "kind": EventKind.SNAPSHOT,
            "at": self.at,
            "data": self.sums,
        }


async def beginning(pool: Pool, feed: Feed, *, recent: int, with_runs: bool) -> Beginning:
    """Where a stream of a feed's batch or run begins: `recent` is how many of the last events it tells at most."""
    args = {"batch_id": feed.batch_id, "run_id": feed.run_id, "limit": recent}
    scope = OF_BATCH if feed.batch_id else OF_RUN
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(SQL["begin"])
        sums = await fetch_one(connection, SQL["sums_of_runs"].format(scope=scope), args)
        heads = await _rows(connection, SQL["heads"], args) if feed.batch_id else []
        # The ids of all runs lie between these two.
        args |= {"first": heads[0]["id"], "last": heads[-1]["id"]} if heads else {}
        events = await _rows(connection, SQL["recent"], args) if heads and recent else []
        runs = await _rows(connection, SQL["states"].format(scope=scope), args) if with_runs else []
    states = tuple(RunAtBeginning(**row | {"state": RunState(row["state"])}) for row in runs)
    snapshot, at, batch_id = Snapshot.parse(sums.pop("snapshot")), sums.pop("at"), sums.pop("batch_id")
    if feed.run_id:
        left_out = max(0, sums["events"] - recent)
        id_ = str(left_out)
        return Beginning(batch_id, feed.run_id, at, _sums(sums, left_out), id_, id_, runs=states)
    run_ids, seqs = [row["id"] for row in heads], array("i", [row["seq"] for row in heads])
    items, begin = _items(feed.cursor_text, snapshot, run_ids, seqs, [Event(**row) for row in events])
    return Beginning(
        batch_id=feed.batch_id,
        run_id=None,
        at=at,
        sums=_sums(sums, sums["events"] - len(items)),
        id=feed.cursor_text.live(begin),
        end_id=feed.cursor_text.live(Position(snapshot, len(run_ids))),
        recent=items,
        run_ids=run_ids,
        seqs=seqs,
        runs=states,
    )


def _sums(row: DictRow, left_out: int) -> Sums:
    counts = row.pop("counts") or {}
    return Sums(**row, runs={state.value: counts.get(state, 0) for state in RunState}, left_out=left_out)


def _items(
    cursors: CursorText,
    snapshot: Snapshot,
    run_ids: Sequence[UUID],
    seqs: "array[int]",
    events: Sequence[Event],
) -> tuple[list[StreamedEvent], Position]:
    """The newest events in order of time, each with the id of its place, and the place before the first of them.

    A run's own events stay in order of seq where a clock was set back, and of those that are not its last ones none is told.
    """
    numbers = {run_id: number for number, run_id in enumerate(run_ids)}
    by_run: dict[int, list[Event]] = {}
    for event in sorted(events, key=lambda event: cast(int, event.seq), reverse=True):
        number = numbers[event.run_id]
        row = by_run.setdefault(number, [])
        if event.seq == seqs[number] - len(row):
            row.append(event)
    lags = {number: seqs[number] - len(row) for number, row in by_run.items() if row}
    begin = Position(snapshot, len(run_ids), dict(lags), has_lags=bool(lags))
    items = []
    for number, event in _in_order(by_run):
        lags[number] += 1
        if lags[number] == seqs[number]:
            del lags[number]
        place = Position(snapshot, len(run_ids), dict(lags), has_lags=bool(lags))
        items.append(StreamedEvent(event, cursors.live(place)))
    return items, begin


def _in_order(by_run: Mapping[int, Sequence[Event]]) -> list[tuple[int, Event]]:
    """Events of runs, each run's newest first, as one list in order of time, by the latest time so far of each run."""
    places = []
    for number, events in by_run.items():
        latest = events[-1].at if events else None
        for event in reversed(events):
            latest = max(latest, event.at) if latest else event.at
            places.append((latest, number, cast(int, event.seq), event))
    places.sort(key=lambda place: place[:3])
    return [(number, event) for _, number, _, event in places]


async def _rows(connection: AsyncConnection[DictRow], query: Any, args: Mapping[str, Any]) -> list[DictRow]:
    return await (await connection.execute(query, args)).fetchall()
