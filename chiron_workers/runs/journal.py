import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import structlog
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import Value, commit_paid, is_fault_of_data, through_outage
from chiron_workers.db.queries import load
from chiron_workers.errors import LeaseLost
from chiron_workers.instruments import TokenCounts, record_lost_reply, record_reply, record_service_answer
from chiron_workers.runs.batch_completion import complete_batch
from chiron_workers.runs.entries import (
    Compaction,
    Entry,
    MaxCost,
    Opening,
    Question,
    Reply,
    ServiceAnswer,
    SideQuestion,
    ToolCall,
    ToolResult,
    Usage,
)
from chiron_workers.runs.entry_rows import (
    answer_columns,
    answer_of_row,
    entries_of,
    entry_columns,
    reply_columns,
    reply_of_row,
    result_columns,
    result_of,
)
from chiron_workers.runs.events import Event
from chiron_workers.runs.fence import LeasedRun, NewEvent, fence, json_text, lease_columns, numbered_events
from chiron_workers.runs.leases import MORE_TURNS, Run
from chiron_workers.runs.release import Release, release_run
from chiron_workers.runs.reservation import NO_CALL, RESERVATION_SQL, reservation_columns
from chiron_workers.runs.session import Session
from chiron_workers.runs.write_offs import settle
from chiron_workers.states import EventKind

SQL = load(__file__, RESERVATION_SQL)
log = structlog.get_logger()


class Journal:
    """Reads and writes the journals of the runs one worker holds. Every write is fenced by the run's lease.

    Args:
        publish: Called with each event after its commit; must not block.
        audience_of: Gives, for a batch and a run, what says whether somebody wants the run's words at this moment.
    """

    def __init__(
        self,
        pool: Pool,
        publish: Callable[[Event], None],
        *,
        lease_for: timedelta,
        audience_of: Callable[[UUID, UUID], Callable[[], bool]] = lambda _batch_id, _run_id: lambda: True,
    ) -> None:
        self.pool = pool
        self._publish = publish
        self._audience_of = audience_of
        self._lease_for = lease_for
        self.lost_replies = 0  # paid for and not committed, though their runs were ours

    async def read(self, run: Run) -> list[Entry]:
        """The entries of a run's epoch, in order; the results of a reply follow it once every call has one."""

        async def attempt() -> tuple[list[DictRow], list[DictRow]]:
            async with self.pool.connection() as connection:
                epoch = {"run_id": run.id, "epoch": run.epoch}
                rows = await (await connection.execute(SQL["read"], epoch)).fetchall()
                args = {"run_id": run.id, "first": rows[0]["n"] if rows else run.entries + 1}
                return rows, await (await connection.execute(SQL["read_results"], args)).fetchall()

        rows, results = await through_outage(attempt)
        return entries_of(rows, results)

    async def read_result(self, run: Run, n: int, call: ToolCall) -> ToolResult | None:
        """The committed result of a call of the n-th entry, or None if it has not run."""
        args = {"run_id": run.id, "n": n, "call_id": call.id}
        async with self.pool.connection() as connection:
            row = await (await connection.execute(SQL["read_result"], args)).fetchone()
        return result_of(row) if row else None

    async def append(
        self,
        run: Run,
        entry: Opening | Question | Compaction | Reply,
        *,
        n: int,
        events: Sequence[NewEvent] = (),
    ) -> bool:
        """Commit the n-th entry of a run together with its events and its cost; whether messages wait for the run.

        Waits for Postgres if it is away. A reply, which is paid for, also waits through whatever Postgres refuses it
        for, except its own values.

        Raises:
            LeaseLost: The run is no longer ours; nothing was written.
        """
        args = self._fence(run, events) | entry_columns(entry) | {"n": n}

        async def attempt() -> bool:
            row = await self._fetch_leased_row(run, SQL["append"], args)
            if row is not None:
                run.progress.steps += 1
                self._publish_numbered(run, row, events)
                return bool(row["unread"])
            # The commit before an outage may have arrived.
            if await self._fetch_row_once(SQL["entry_exists"], args):
                run.progress.steps += 1
                return True
            raise LeaseLost(run.id)

        if not isinstance(entry, Reply):
            return await through_outage(attempt)
        columns = reply_columns(entry) | {"service": None}
        return await self._commit_reply(run, n, entry, self._or_settle(run, columns, attempt), is_turn=True)

    async def settle_call(
        self,
        run: Run,
        n: int,
        call: ToolCall,
        result: ToolResult,
        session: Session,
        *,
        ms: int,
        events: Sequence[NewEvent],
        next_call: MaxCost | None = None,
    ) -> bool | None:
        """Commit what a tool wrote in its session together with its result, its events and the fence.

        The result of a tool that wrote nothing waits as a reply does.

        Args:
            n: The entry that made the call: servers may give the same id to calls of different replies.
            next_call: What the model call that follows at once can cost at most, to be reserved here if only the run's own
                budget binds it and has room.

        Returns:
            Whether `next_call` is reserved; None where nobody knows, since the answer of the commit was lost.

        Raises:
            LeaseLost: The run is no longer ours; the tool's writes are rolled back.
        """
        facts = sum(kind == EventKind.FACT_STORED for kind, _ in events)
        args = (
            self._fence(run, events)
            | result_columns(call, result)
            | {
                "n": n,
                "ms": ms,
                "facts": facts,
                "confirmed": len(session.confirmed_ids),
                "confirmed_ids": ",".join(sorted(session.confirmed_ids)),
                "searched_ids": ",".join(sorted(session.searched_ids)),
                "unpriced_services": result.unpriced_services,
            }
        )
        args |= NO_CALL if next_call is None else reservation_columns(next_call)
        is_repeated = False

        async def attempt() -> bool | None:
            nonlocal is_repeated
            if is_repeated and await self.read_result(run, n, call):  # the commit before an outage did arrive
                return None
            is_repeated = True
            if session.is_writing:
                row = await session.last(SQL["settle_writes"], args)
            else:  # by a connection that no tool can hold
                row = await self._fetch_leased_row(run, SQL["settle_call"], args)
            if row is None:
                raise LeaseLost(run.id)
            run.progress.steps += 1
            self._publish_numbered(run, row, events)
            return bool(row["is_reserved"])

        if session.is_writing:  # a refusal takes the tool's writes along
            return await attempt()
        return await commit_paid(attempt, what="result")

    async def read_side_reply(self, run: Run, question: SideQuestion) -> Reply | None:
        """What the model answered to this question of a tool call that is not finished, or None if it was not asked."""
        row = await self._fetch_row(SQL["read_side_reply"], {"run_id": run.id, **asdict(question)})
        return reply_of_row(row) if row else None

    async def append_side_reply(self, run: Run, question: SideQuestion, reply: Reply) -> None:
        """Commit what the model answered to a question of a tool call, and what that cost, before the tool uses it.

        Waits as `append` does.

        Raises:
            LeaseLost: The run is no longer ours; nothing was written.
        """
        columns = reply_columns(reply) | {"service": None, "body": json_text(reply.body())}

        async def attempt() -> None:
            await self._append_answer(run, question, columns)

        await self._commit_reply(
            run, question.n, reply, self._or_settle(run, columns, attempt), is_turn=False
        )

    async def read_service_answer(self, run: Run, question: SideQuestion) -> ServiceAnswer | None:
        """What a hosted service answered to a tool call that is not finished, or None if it was not asked."""
        row = await self._fetch_row(SQL["read_side_reply"], {"run_id": run.id, **asdict(question)})
        return answer_of_row(row) if row else None

    async def append_service_answer(self, run: Run, question: SideQuestion, answer: ServiceAnswer) -> None:
        """Commit what a hosted service answered to a tool call, and what that cost, before the tool uses it.

        Waits as `append` does for a reply.

        Raises:
            LeaseLost: The run is no longer ours; nothing was written.
        """
        columns = answer_columns(answer)

        async def attempt() -> None:
            await self._append_answer(run, question, columns)

        await commit_paid(self._or_settle(run, columns, attempt), what="answer")
        record_service_answer(answer.service, answer.cost_usd)

    async def _append_answer(self, run: Run, question: SideQuestion, columns: dict[str, Any]) -> None:
        args = self._fence(run, ()) | asdict(question) | columns
        if await self._fetch_leased_row(run, SQL["append_side_reply"], args):
            run.progress.steps += 1
        elif not await self._fetch_row_once(SQL["side_reply_exists"], args):
            raise LeaseLost(run.id)

    async def take_messages(self, run: Run, *, n: int) -> tuple[Question, int] | None:
        """Turn the messages that wait into the n-th entry; None if there are none. Raises LeaseLost.

        Returns:
            The entry, and the turns the run may take: a question in the last turn may still be answered.
        """
        args = self._fence(run, ()) | {"n": n, "more_turns": MORE_TURNS}

        async def attempt() -> tuple[Question, int] | None:
            async with self.pool.connection() as connection, connection.transaction():
                current_args = args | lease_columns(run)
                locked_row = await (await connection.execute(SQL["lock"], current_args)).fetchone()
                if locked_row is None or locked_row["entries"] != n - 1:
                    raise LeaseLost(run.id)
                if locked_row["unread"] == 0:
                    return None
                row = await (await connection.execute(SQL["take_messages"], current_args)).fetchone()
            assert row is not None
            run.progress.steps += 1
            return Question(row["text"]), row["max_turns"]

        return await through_outage(attempt)

    async def has_unread(self, run: Run) -> bool:
        """Whether messages wait for this run. Raises LeaseLost."""
        row = await through_outage(lambda: self._fetch_leased_row(run, SQL["unread"], {}))
        if row is None:
            raise LeaseLost(run.id)
        return bool(row["unread"])

    async def release(self, run: Run, release: Release) -> bool:
        """Release a run; False if messages arrived that a completed run must still answer.

        The last open run of a batch also completes the batch, in a transaction of its own.

        Raises:
            LeaseLost: The run is no longer ours; nothing was written.
        """

        async def attempt() -> bool:
            async with self.pool.connection() as connection, connection.transaction():
                events = await release_run(connection, run, release)
            if events is None:
                return not await self.has_unread(run)
            self.publish_all(events)
            return True

        is_released = await through_outage(attempt)
        if is_released:
            self.publish_all(await complete_batch(self.pool, run.batch_id))
        return is_released

    def publish_all(self, events: Sequence[Event]) -> None:
        """Publish what was committed."""
        for event in events:
            self._publish(event)

    def audience_of(self, run: Run) -> Callable[[], bool]:
        """What says whether somebody wants the run's words at this moment."""
        return self._audience_of(run.batch_id, run.id)

    def publish_text(self, run: Run, text: str, at: datetime) -> None:
        """Publish words of a reply as they arrive; they are not stored."""
        self._publish(Event(run.batch_id, run.id, None, EventKind.TEXT_DELTA, at, {"text": text}))

    def _or_settle(
        self, run: Run, columns: Mapping[str, Any], attempt: Callable[[], Awaitable[Value]]
    ) -> Callable[[], Awaitable[Value]]:
        """The commit of what was paid for; where the lease is lost, it settles the write-off of its own call at least."""

        async def attempt_or_settle() -> Value:
            try:
                return await attempt()
            except LeaseLost:
                if columns["reserved_calls"] and await settle(self.pool, run, columns):
                    log.info("write_off.settled", run_id=str(run.id), cost_usd=columns["cost_usd"])
                raise

        return attempt_or_settle

    async def _commit_reply(
        self, run: Run, n: int, reply: Reply, attempt: Callable[[], Awaitable[Value]], *, is_turn: bool
    ) -> Value:
        began = time.monotonic()
        try:
            value = await commit_paid(attempt, what="reply")
        except LeaseLost:
            raise
        except BaseException as error:
            if is_fault_of_data(error) and is_turn and reply.content:
                raise  # what is wrong itself is stored without its words
            self.lost_replies += 1
            reason = str(error).strip() or "its run was cancelled"
            record_lost_reply()
            log.critical("reply.lost", run_id=str(run.id), n=n, reason=reason)
            raise
        commit_s = time.monotonic() - began
        record_reply(
            run.model, _token_counts(reply.usage), reply.cost_usd, is_turn=is_turn, commit_s=commit_s
        )
        return value

    def _fence(self, run: LeasedRun, events: Sequence[NewEvent]) -> dict[str, Any]:
        return fence(run, events) | {"lease_for": self._lease_for}

    def _publish_numbered(self, run: LeasedRun, row: DictRow, events: Sequence[NewEvent]) -> None:
        self.publish_all(numbered_events(run, row, events))

    async def _fetch_row(self, query: psycopg.sql.SQL, args: Mapping[str, Any]) -> DictRow | None:
        return await through_outage(lambda: self._fetch_row_once(query, args))

    async def _fetch_leased_row(
        self, run: Run, query: psycopg.sql.SQL, args: Mapping[str, Any]
    ) -> DictRow | None:
        async with self.pool.connection() as connection:
            # Only now: while this waited for Postgres, a parallel call may have committed a step that a failover forgot.
            return await (await connection.execute(query, {**args, **lease_columns(run)})).fetchone()

    async def _fetch_row_once(self, query: psycopg.sql.SQL, args: Mapping[str, Any]) -> DictRow | None:
        async with self.pool.connection() as connection:
            return await (await connection.execute(query, args)).fetchone()


def _token_counts(usage: Usage) -> TokenCounts:
    """As OpenTelemetry counts: the input includes what the cache read and wrote."""
    return TokenCounts(
        input=usage.tokens - usage.output_tokens,
        output=usage.output_tokens,
        cache_read_input=usage.cache_read_tokens,
        cache_write_input=usage.written_tokens,
    )
