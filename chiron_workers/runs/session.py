import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self
from uuid import UUID
from weakref import WeakKeyDictionary, WeakValueDictionary

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg.sql import SQL

from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import LOCAL_OWNER, Principal
from chiron_workers.db.connect import Pool, Query
from chiron_workers.db.pipelines import Statement, send
from chiron_workers.states import AccessScope, EventKind

if TYPE_CHECKING:
    from chiron_workers.runs.entries import Limit, Reply


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a tool runs. Within a run all of the ids are set, and the subject and the role are the run's."""

    owner: str = LOCAL_OWNER  # whose active subject, answers, batches and subscriptions
    run_id: UUID | None = None
    batch_id: UUID | None = None
    call_id: str | None = None
    subject_id: str | None = None
    shown: "Limit | None" = None  # of what the tool returns
    model: str | None = None  # that plays the run
    role: str | None = None  # of the run
    scope: str | None = None  # which facts the run works on: of a batch or a run, by its id, or of a subject
    key_id: UUID | None = None  # with which it was asked for
    is_admin: bool = True  # whether it sees what others own

    @property
    def visible_owner(self) -> str | None:
        """Whose batches, runs and subscriptions it sees; None: those of all."""
        return None if self.is_admin else self.owner

    @property
    def principal(self) -> Principal:
        """Who submits what it orders."""
        scope = AccessScope.ADMIN if self.is_admin else AccessScope.SUBMIT
        return Principal(self.owner, scope, key_id=self.key_id)


class SideModel(Protocol):
    """A model that a tool may ask."""

    @property
    def model_name(self) -> str:
        """Which one it is."""

    async def ask(
        self, question: str, *, tools: Sequence[dict[str, Any]], max_tokens: int, model: str = ""
    ) -> "Reply":
        """One reply to one question, apart from any conversation; of `model` where one is named."""


BEGIN, COMMIT, ROLLBACK = (Statement(SQL(word)) for word in ("begin", "commit", "rollback"))
LEASE_LOST = "CL001"  # the SQLSTATE of lease_lost()

# Who of a pool's sessions may take a lock next, by what it locks.
_queues: WeakKeyDictionary[Pool, WeakValueDictionary[str, asyncio.Lock]] = WeakKeyDictionary()


@dataclass(slots=True)
class Session:
    """Reads at once; the first write opens the one transaction, which whoever made the session commits.

    A tool prepares first (network, parsing, embedding), then writes once, last: from the first write to the
    commit nothing but Postgres is awaited. Postgres ends a transaction of a worker that is idle for two seconds.
    """

    pool: Pool
    caller: Caller = field(default_factory=Caller)
    pending: list[tuple[EventKind, dict[str, Any]]] = field(default_factory=list)
    reads_private: bool = False  # said by `store.egress.mark_tainted`, written with the call's result
    ends_silently: bool = False  # whether the run ends with the tool's result and bothers nobody
    confirmed_ids: set[str] = field(default_factory=set)  # facts of before this run that it confirmed
    searched_ids: set[str] = field(default_factory=set)  # facts that a search returned
    _connection: AsyncConnection[DictRow] | None = None
    _turns: list[asyncio.Lock] = field(default_factory=list)
    # Sent with the statement that ends the session.
    _before_commit: list[Statement] = field(default_factory=list)
    _on_rollback: list[Statement] = field(default_factory=list)  # follow a rollback

    @property
    def is_writing(self) -> bool:
        """Whether its transaction is open."""
        return self._connection is not None

    async def rows(
        self, query: Query, args: Mapping[str, Any] | None = None, *, prepare: bool | None = None
    ) -> list[DictRow]:
        """All rows of a query that only reads; it sees what this session has written.

        Args:
            prepare: False: Postgres plans for these arguments on every call. True: it may keep one plan for all.
        """
        if self._connection is not None:
            return await (await self._connection.execute(query, args, prepare=prepare)).fetchall()
        async with self.pool.connection() as connection:
            return await (await connection.execute(query, args, prepare=prepare)).fetchall()

    async def row(self, query: Query, args: Mapping[str, Any] | None = None) -> DictRow | None:
        """The first row of a query that only reads."""
        rows = await self.rows(query, args)
        return rows[0] if rows else None

    async def rows_of(self, *statements: Statement) -> list[list[DictRow]]:
        """The rows of several queries that only read; they go out together, so that they are waited for once."""
        if self._connection is not None:
            return await send(self._connection, statements)
        async with self.pool.connection() as connection:
            return await send(connection, statements)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        """A connection for reads that belong together, in one transaction; it sees what this session has written."""
        if self._connection is not None:
            yield self._connection
            return
        async with self.pool.connection() as connection, connection.transaction():
            yield connection

    async def write(self, query: Query, args: Mapping[str, Any] | None = None) -> list[DictRow]:
        """Run a statement in the session's transaction; its returned rows."""
        if self._connection is None:
            return (await self.write_all(Statement(query, args)))[0]
        cursor = await self._connection.execute(query, args)
        return await cursor.fetchall() if cursor.description else []

    async def write_all(self, *statements: Statement) -> list[list[DictRow]]:
        """Run several statements in the session's transaction, which go out together; the rows of each."""
        if self._connection is not None:
            return await send(self._connection, statements)
        self._connection = await self.pool.getconn()
        return (await send(self._connection, (BEGIN, *statements)))[1:]

    def before_commit(self, statement: Statement) -> None:
        """Have a statement sent together with the one that ends the session."""
        self._before_commit.append(statement)

    def on_rollback(self, *statements: Statement) -> None:
        """Have statements run where the session is rolled back: they undo what it committed before. None: nothing."""
        self._on_rollback = list(statements)

    async def lock(self, query: Query, args: Mapping[str, Any] | None = None, *, keys: Sequence[str]) -> None:
        """Take advisory locks until the end of the session's transaction: its first statement.

        Sessions of this pool that want the same lock queue here, each without a connection, so that at most one of them
        waits in Postgres for the lock of another process.

        Args:
            keys: What is locked; sessions with a key in common take turns.
        """
        try:
            # A session that writes waits in Postgres, which sees a deadlock.
            if not self.is_writing:
                await self._queue(keys)
            await self.write(query, args)
        except BaseException:
            if not self.is_writing:
                self._leave_queues()
            raise

    async def share(self, *statements: Statement, key: str, alone: str) -> list[list[DictRow]]:
        """Begin the session's transaction with statements of which one takes an advisory lock that many hold at once.

        As with `lock`, at most one session of this pool waits for it in Postgres. The next may when it is held.

        Args:
            key: What is locked.
            alone: What sessions of this pool do one after the other, each to its end.
        """
        try:
            await self._queue([alone])
            queue = _queues.setdefault(self.pool, WeakValueDictionary()).setdefault(key, asyncio.Lock())
            async with queue:
                return await self.write_all(*statements)
        except BaseException:
            if not self.is_writing:
                self._leave_queues()
            raise

    async def _queue(self, keys: Sequence[str]) -> None:
        queues = _queues.setdefault(self.pool, WeakValueDictionary())
        for key in sorted(set(keys)):
            queue = queues.setdefault(key, asyncio.Lock())
            await queue.acquire()
            self._turns.append(queue)

    def _leave_queues(self) -> None:
        while self._turns:
            self._turns.pop().release()

    def emit(self, kind: EventKind, data: dict[str, Any]) -> None:
        """Tell watchers of something this session wrote; the event commits with it. Outside a run it is dropped."""
        self.pending.append((kind, data))

    async def begin(self) -> AsyncConnection[DictRow]:
        """The connection of the open transaction; opens it."""
        if self._connection is None:
            connection = await self.pool.getconn()
            try:
                await connection.execute("begin")
            except BaseException:
                await self.pool.putconn(connection)
                raise
            self._connection = connection
        return self._connection

    async def last(self, query: Query, args: Mapping[str, Any]) -> DictRow | None:
        """Run the statement that ends a session which writes, and commit; its row.

        The commit goes out with it, so the statement must fail where its writes may not stand: lease_lost() does that. Then
        everything is rolled back, and there is no row.
        """
        assert self._connection is not None
        try:
            results = await send(self._connection, (*self._before_commit, Statement(query, args), COMMIT))
        except psycopg.Error as error:
            if error.sqlstate != LEASE_LOST:
                raise
            await self._end(ROLLBACK)
            return None
        self._on_rollback.clear()
        await self._end(None)
        return results[-2][0]

    async def commit(self) -> None:
        """Make what was written last; a session that wrote nothing commits nothing.

        The entry of the act under way goes along; what a run writes is nobody's act.
        """
        if self._connection is not None and not self._connection.closed and self.caller.run_id is None:
            try:
                await record_within(self._connection)
            except BaseException:
                await self.rollback()
                raise
        await self._end(COMMIT)

    async def begin_anew(self) -> None:
        """Forget what was written, to write it again."""
        await self._end(ROLLBACK)

    async def rollback(self) -> None:
        """Forget what was written, and its events."""
        self.pending.clear()
        self.confirmed_ids.clear()
        self.searched_ids.clear()
        await self._end(ROLLBACK)

    async def _end(self, statement: Statement | None) -> None:
        """Give the connection back after the statement that ends its transaction, where that has not run yet."""
        connection, self._connection = self._connection, None
        try:
            if connection is not None and not connection.closed and statement is not None:
                await send(
                    connection,
                    (*self._before_commit, statement)
                    if statement is COMMIT
                    else (statement, *self._on_rollback),
                )
        finally:
            self._on_rollback.clear()
            self._before_commit.clear()
            self._leave_queues()
            if connection is not None:
                await self.pool.putconn(connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await (self.commit() if error is None else self.rollback())
