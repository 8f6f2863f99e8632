import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol, TypeVar
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg_pool import PoolTimeout

from chiron_workers.entries import (
    Entry,
    Folding,
    Opening,
    Question,
    Reply,
    Results,
    ToolCall,
    ToolResult,
    Usage,
    storable,
)
from chiron_workers.errors import LeaseLost
from chiron_workers.states import EventKind, RunState
from chiron_workers.store.connect import Pool, is_outage
from chiron_workers.store.events import Event
from chiron_workers.store.queries import load
from chiron_workers.store.runs import MORE_TURNS, Run
from chiron_workers.store.session import Session

SQL = load(__file__)
SHARDS = 16  # rows of a day's spending
OUTAGE_S = 120.0  # how long a write waits for Postgres to come back before the run is given up

Told = tuple[EventKind, Mapping[str, Any]]
ASKED_FOR = {"reason": "asked for"}


class Held(Protocol):
    """What fences a write: a run and the number of its taking."""

    @property
    def id(self) -> UUID:
        """The run."""

    @property
    def batch_id(self) -> UUID:
        """Its batch."""

    @property
    def lease(self) -> int:
        """The number of the taking."""


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Appended:
    """What a holder learns from a write: whether messages wait."""

    unread: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """How a taking ends. `counts` marks a taking that failed: it uses up an attempt if it added nothing."""

    state: RunState
    told: tuple[Told, ...]
    answer: str | None = None
    error: Mapping[str, str] | None = None
    ready_in: timedelta = timedelta()
    counts: bool = False


class Journal:
    """Reads and writes the journals of the runs one worker holds. Every write is fenced by the run's lease.

    Args:
        publish: Called with each event after its commit; must not block.
    """

    def __init__(self, pool: Pool, publish: Callable[[Event], None], *, lease_for: timedelta) -> None:
        self.pool = pool
        self._publish = publish
        self._lease_for = lease_for

    async def read(self, run: Run) -> list[Entry]:
        """The entries of a run's epoch, in order; the results of a reply follow it once every call has one."""

        async def attempt() -> tuple[list[DictRow], list[DictRow]]:
            async with self.pool.connection() as connection:
                epoch = {"run_id": run.id, "epoch": run.epoch}
                rows = await (await connection.execute(SQL["read"], epoch)).fetchall()
                args = {"run_id": run.id, "first": rows[0]["n"] if rows else run.entries + 1}
                return rows, await (await connection.execute(SQL["read_results"], args)).fetchall()

        rows, results = await through_outage(attempt)
        known = {(row["n"], row["call_id"]): _result(row) for row in results}
        entries: list[Entry] = []
        for row in rows:
            entry = _entry(row)
            entries.append(entry)
            if isinstance(entry, Reply) and entry.stop == "tool_use" and not entry.folds:
                found = [known.get((row["n"], call.id)) for call in entry.calls]
                if None not in found:
                    entries.append(Results(tuple(result for result in found if result)))
        return entries

    async def read_result(self, run: Run, n: int, call: ToolCall) -> ToolResult | None:
        """The committed result of a call of the n-th entry, or None if it has not run."""
        args = {"run_id": run.id, "n": n, "call_id": call.id}
        async with self.pool.connection() as connection:
            row = await (await connection.execute(SQL["read_result"], args)).fetchone()
        return _result(row) if row else None

    async def append(
        self, run: Run, entry: Opening | Question | Folding | Reply, *, n: int, told: Sequence[Told] = ()
    ) -> Appended:
        """Commit the n-th entry of a run together with its events and its cost.

        Waits for Postgres if it is away: what was paid for is not thrown away.

        Raises:
            LeaseLost: The run is no longer ours; nothing was written.
        """
        args = self._fence(run, told) | _columns(entry) | {"n": n}

        async def attempt() -> Appended:
            row = await self._one(SQL["append"], args)
            if row is not None:
                self._tell(run, row, told)
                return Appended(unread=row["unread"] > 0)
            if await self._one(SQL["entry_exists"], args):  # the commit before an outage did arrive
                return Appended(unread=True)
            raise LeaseLost(run.id)

        return await through_outage(attempt)

    async def settle_call(
        self,
        run: Run,
        n: int,
        call: ToolCall,
        result: ToolResult,
        session: Session,
        *,
        ms: int,
        told: Sequence[Told],
    ) -> None:
        """Commit what a tool wrote in its session together with its result, its events and the fence.

        `n` is the entry that made the call: servers may give the same id to calls of different replies.

        Raises:
            LeaseLost: The run is no longer ours; the tool's writes are rolled back.
        """
        args = self._fence(run, told) | {
            "n": n,
            "call_id": call.id,
            "name": storable(call.name),
            "is_error": result.is_error,
            "body": result.text,
            "whole": result.whole,
            "ms": ms,
            **_spent(session.spent),
            "facts": sum(kind == EventKind.FACT_STORED for kind, _ in told),
        }
        row = await session.last(SQL["settle_call"], args)
        if row is None:
            raise LeaseLost(run.id)
        self._tell(run, row, told)

    async def take_messages(self, run: Run, *, n: int) -> tuple[Question, int] | None:
        """Turn the messages that wait into the n-th entry; None if there are none. Raises LeaseLost.

        Returns:
            The entry, and the turns the run may take: whoever is asked may answer, also in the last turn.
        """
        args = self._fence(run, ()) | {"n": n, "more_turns": MORE_TURNS}
        async with self.pool.connection() as connection, connection.transaction():
            held = await (await connection.execute(SQL["lock"], args)).fetchone()
            if held is None or held["entries"] != n - 1:
                raise LeaseLost(run.id)
            if held["unread"] == 0:
                return None
            row = await (await connection.execute(SQL["take_messages"], args)).fetchone()
        assert row is not None
        return Question(row["text"]), row["max_turns"]

    async def has_unread(self, run: Run) -> bool:
        """Whether messages wait for this run. Raises LeaseLost."""
        row = await self._one(SQL["standing"], {"run_id": run.id, "lease": run.lease})
        if row is None:
            raise LeaseLost(run.id)
        return bool(row["unread"])

    async def has_progressed(self, run: Run) -> bool:
        """Whether this taking has added anything to the journal. Raises LeaseLost."""
        row = await self._one(SQL["standing"], {"run_id": run.id, "lease": run.lease})
        if row is None:
            raise LeaseLost(run.id)
        return bool(row["has_progressed"])

    async def waited_for_model_s(self, run: Run) -> float:
        """How many seconds ago this run's model first sent it back, if the run has not got further since; else 0."""
        row = await self._one(SQL["waited"], {"run_id": run.id})
        assert row is not None
        return float(row["seconds"])

    async def release(self, run: Run, ending: Ending) -> bool:
        """End this taking of a run; False if messages arrived that a completed run must still answer.

        The last open run of a batch also completes the batch, in the same transaction.

        Raises:
            LeaseLost: The run is no longer ours; nothing was written.
        """

        async def attempt() -> bool:
            async with self.pool.connection() as connection, connection.transaction():
                events = await self.release_within(connection, run, ending)
            if events is None:
                return not await self.has_unread(run)
            self.publish_all(events)
            return True

        return await through_outage(attempt)

    async def release_within(
        self, connection: AsyncConnection[DictRow], run: Held, ending: Ending
    ) -> list[Event] | None:
        """End a taking within a transaction of the caller; the events to publish after it, None if fenced off.

        A run that would go on elsewhere stops here if somebody wants it to: nobody else would have to be asked.
        """
        held = await _hold(connection, run)
        if held is None or (ending.state == RunState.COMPLETED and held["unread"]):
            return None
        await _spend_reserved(connection, run, held)
        return await self._release_held(connection, run, ending, held)

    async def release_all_within(
        self, connection: AsyncConnection[DictRow], endings: Sequence[tuple[Held, Ending]]
    ) -> list[Event]:
        """As `release_within` for many runs whose workers are lost; those that are fenced off are passed over."""
        found = [(run, ending, await _hold(connection, run)) for run, ending in endings]
        ours = [(run, ending, held) for run, ending, held in found if held is not None]
        # All before the first batch: replies hold their row of the day while they wait for that of their batch.
        for run, _, held in ours:
            await _spend_reserved(connection, run, held)
        events = []
        for run, ending, held in ours:
            events += await self._release_held(connection, run, ending, held) or []
        return events

    async def _release_held(
        self, connection: AsyncConnection[DictRow], run: Held, ending: Ending, held: DictRow
    ) -> list[Event] | None:
        ending = as_wanted(ending, held["wanted"])
        args = self._fence(run, ending.told) | _ending_columns(ending)
        args |= {"reserved_usd": held["reserved_usd"], "reserved_tokens": held["reserved_tokens"]}
        row = await (await connection.execute(SQL["release"], args)).fetchone()
        if row is None:
            return None
        events = _events(run, row, ending.told)
        if row["open_runs"] == 0:
            events.append(await close_batch(connection, batch_id=run.batch_id, run_id=run.id))
        return events

    def publish_all(self, events: Sequence[Event]) -> None:
        """Publish what was committed."""
        for event in events:
            self._publish(event)

    def say_text(self, run: Run, text: str, at: datetime) -> None:
        """Publish words of a reply as they arrive; they are not stored."""
        self._publish(Event(run.batch_id, run.id, None, EventKind.TEXT_DELTA, at, {"text": text}))

    def _fence(self, run: Held, told: Sequence[Told]) -> dict[str, Any]:
        return {
            "run_id": run.id,
            "lease": run.lease,
            "lease_for": self._lease_for,
            "shard": shard_of(run.id),
            "event_count": len(told),
            # Strings, since psycopg dumps arrays in Python; JSON holds no raw line breaks.
            "kinds": ",".join(kind for kind, _ in told),
            "datas": "\n".join(_json(data) for _, data in told),
        }

    def _tell(self, run: Held, row: DictRow, told: Sequence[Told]) -> None:
        self.publish_all(_events(run, row, told))

    async def _one(self, query: psycopg.sql.SQL, args: Mapping[str, Any]) -> DictRow | None:
        async def attempt() -> DictRow | None:
            async with self.pool.connection() as connection:
                return await (await connection.execute(query, args)).fetchone()

        return await through_outage(attempt)


async def _hold(connection: AsyncConnection[DictRow], run: Held) -> DictRow | None:
    args = {"run_id": run.id, "lease": run.lease}
    return await (await connection.execute(SQL["lock"], args)).fetchone()


async def _spend_reserved(connection: AsyncConnection[DictRow], run: Held, held: DictRow) -> None:
    if held["reserved_usd"]:
        args = {"shard": shard_of(run.id), "usd": held["reserved_usd"]}
        await connection.execute(SQL["spend"], args)


async def close_batch(connection: AsyncConnection[DictRow], *, batch_id: UUID, run_id: UUID) -> Event:
    """Say that a batch is completed, in the sequence of the run that ended last; the run row is locked by now."""
    args = {"batch_id": batch_id, "run_id": run_id}
    row = await (await connection.execute(SQL["close_batch"], args)).fetchone()
    assert row is not None
    return Event(batch_id, run_id, row["seq"], EventKind.BATCH_COMPLETED, row["at"], row["data"])


def as_wanted(ending: Ending, wanted: str | None) -> Ending:
    """How a taking ends that somebody wants paused or cancelled. What is completed stays so; a cancel beats the rest."""
    if wanted == "cancel" and ending.state != RunState.COMPLETED:
        return Ending(RunState.CANCELLED, ((EventKind.RUN_CANCELLED, ASKED_FOR),))
    if wanted == "pause" and ending.state == RunState.QUEUED:
        return Ending(RunState.PAUSED, ((EventKind.RUN_PAUSED, ASKED_FOR),))
    return ending


def failure(kind: str, message: str) -> Ending:
    """A run's end in failure, with the reason as its error."""
    error = {"kind": kind, "message": storable(message)}
    return Ending(RunState.FAILED, ((EventKind.RUN_FAILED, error),), error=error)


async def through_outage(attempt: Callable[[], Awaitable[Value]]) -> Value:
    """Repeat a write until Postgres is back, for two minutes at most; the write must be safe to repeat."""
    give_up_at = time.monotonic() + OUTAGE_S
    pause_s = 0.1
    while True:
        try:
            return await attempt()
        except (psycopg.Error, PoolTimeout) as error:
            if not is_outage(error) or time.monotonic() > give_up_at:
                raise
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, 2.0)


def _events(run: Held, row: DictRow, told: Sequence[Told]) -> list[Event]:
    return [
        Event(run.batch_id, run.id, row["seq_before"] + position, kind, row["at"], dict(data))
        for position, (kind, data) in enumerate(told, start=1)
    ]


def _ending_columns(ending: Ending) -> dict[str, Any]:
    return {
        "state": ending.state,
        "answer": None if ending.answer is None else storable(ending.answer),
        "error": _json(ending.error) if ending.error else None,
        "ready_in": ending.ready_in,
        "counts": ending.counts,
        "closes": ending.state.is_final,
    }


def _json(data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can carry and UTF-8 cannot
        return json.dumps(data)
    return text


def shard_of(run_id: UUID) -> int:
    """Which row of a day's spending a run adds to."""
    return run_id.int % SHARDS


def _spent(replies: Sequence[Reply]) -> dict[str, Any]:
    return _settled(replies) | {
        "input_tokens": sum(reply.usage.input_tokens for reply in replies),
        "output_tokens": sum(reply.usage.output_tokens for reply in replies),
        "cache_write_tokens": sum(reply.usage.written_tokens for reply in replies),
        "cache_read_tokens": sum(reply.usage.cache_read_tokens for reply in replies),
        "cost_usd": sum((reply.cost_usd or Decimal() for reply in replies), Decimal()),
    }


def _settled(replies: Sequence[Reply]) -> dict[str, Any]:
    reserved = [reply.reserved for reply in replies if reply.reserved is not None]
    return {
        "tokens": sum(reply.usage.tokens for reply in replies),
        "reserved_usd": sum((bound.usd for bound in reserved), Decimal()),
        "reserved_tokens": sum(bound.tokens for bound in reserved),
        "reserved_calls": len(reserved),
    }


def _columns(entry: Opening | Question | Folding | Reply) -> dict[str, Any]:
    usage = entry.usage if isinstance(entry, Reply) else Usage()
    return _settled([entry] if isinstance(entry, Reply) else []) | {
        "kind": type(entry).__name__.lower(),
        "epoch": entry.epoch if isinstance(entry, Opening) else None,
        "turns": int(isinstance(entry, Reply)),
        "body": _json(entry.body()),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_write_tokens": usage.written_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cost_usd": entry.cost_usd if isinstance(entry, Reply) else None,
    }


def _entry(row: DictRow) -> Opening | Question | Folding | Reply:
    body = row["body"]
    match row["kind"]:
        case "opening":
            frozen = body["model"], body["system"], tuple(body["tools"]), body["max_tokens"]
            return Opening(*frozen, body.get("question"), row["epoch"])
        case "question":
            return Question(body["text"])
        case "folding":
            return Folding(body["text"])
    usage = Usage(
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        cache_write_tokens=row["cache_write_tokens"],
        cache_read_tokens=row["cache_read_tokens"],
    )
    return Reply(
        tuple(body["content"]),
        body["stop_reason"],
        usage,
        row["cost_usd"],
        body["model"],
        body["request_id"],
        folds=body.get("folds", False),
    )


def _result(row: DictRow) -> ToolResult:
    return ToolResult(row["call_id"], row["body"], row["is_error"])
