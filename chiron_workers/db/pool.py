"""A pool of connections that knows whether Postgres is away."""

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout
from psycopg_pool.pool_async import AddConnection, MaintenanceTask, WaitingClient

from chiron_workers.db.outages import PAUSE_S

QUIET_S = 1.0  # after which a connection is tried before it is handed out
GRACE_S = 0.1  # for an answer that is there and is not read yet
AWAY = "Postgres is away"


class _Stack(deque[AsyncConnection[DictRow]]):
    """Idle connections of a pool: the one that came back last goes out next."""

    def append(self, connection: AsyncConnection[DictRow]) -> None:
        """Put a connection on top, where `popleft` takes it."""
        self.appendleft(connection)


class _Waiter(WaitingClient[AsyncConnection[DictRow]]):
    """A queued request for a connection; it uses no lock.

    psycopg's own has a lock, which Python 3.11 holds for some steps after a cancel of the wait. A task that handed over a
    connection waited for that lock. If that task was cancelled as well, the pool lost the connection for good.
    """

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self.conn = None
        self.error = None
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(self, timeout: float) -> AsyncConnection[DictRow]:
        """The connection. Raises PoolTimeout, or the error given to `fail`."""
        try:
            async with asyncio.timeout(timeout):
                await self._end
        except TimeoutError:
            self.error = PoolTimeout(f"couldn't get a connection after {timeout:.2f} sec")
        finally:
            self._end.cancel()  # Later `set` and `fail` calls return False.
        if self.error:
            raise self.error
        assert self.conn is not None
        return self.conn

    async def set(self, conn: AsyncConnection[DictRow]) -> bool:
        """Hand over a connection; return whether it is taken. Never yields to another task, so no cancel can interrupt it."""
        if self._end.done():
            return False
        self.conn = conn
        self._end.set_result(None)
        return True

    async def fail(self, error: Exception) -> bool:
        """End the wait with an error; return whether it was still waiting."""
        if self._end.done():
            return False
        self.error = error
        self._end.set_result(None)
        return True


class SteadyPool(AsyncConnectionPool[AsyncConnection[DictRow]]):
    """Tries to connect again every half second, where psycopg's own waits 1, 2, 4 ... 64 s and outlasts the outage.

    While Postgres is away, one attempt is under way at a time: a server that stands still queues them all, and has to answer
    each when it resumes.

    A connection that may only read is not kept: a new one may reach the server that was promoted.

    The connection that was used last is used next, where psycopg's own takes turns: the Postgres process behind it has its
    plans and its tables in the processor's cache, and the others sleep.

    No cancel loses a connection: the code that hands one out or takes one back never yields to another task (`_Waiter`,
    `putconn`).

    Args:
        away_s: How long somebody waits for a connection while Postgres is known to be away. Connections are tried then before
            they are handed out, so that a restart costs no request. None: as long as at any time, and nothing is tried.
    """

    def __init__(self, conninfo: str, *, away_s: float | None, **more: Any) -> None:
        super().__init__(conninfo, **more)
        self._pool = _Stack()
        self._away_s = away_s
        self._is_away = False
        self._answered_at = -math.inf  # when Postgres answered last
        self._is_final: Callable[[psycopg.OperationalError], bool] = lambda _: False
        self._final_error: psycopg.OperationalError | None = None
        self._work: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()  # to connect while Postgres is away
        self._connecting: set[asyncio.Task[Any]] = set()

    async def wait(
        self,
        timeout: float = 30.0,
        *,
        is_final: Callable[[psycopg.OperationalError], bool] = lambda _: False,
    ) -> None:
        """Wait for the first connection.

        Args:
            is_final: Whether no further attempt is worth its time after one that failed so.

        Raises:
            PoolTimeout: There is none in time.
            psycopg.OperationalError: An attempt failed for good.
        """
        self._is_final = is_final
        await super().wait(timeout)
        if self._final_error:
            raise self._final_error

    async def close(self, timeout: float = 5.0) -> None:
        """Close the pool and end what it still waits for."""
        await super().close(timeout)
        for task in self._work:
            task.cancel()
        await asyncio.gather(*self._work, return_exceptions=True)

    async def schedule_task(self, task: MaintenanceTask, delay: float) -> None:
        """Connect again within half a second."""
        await super().schedule_task(task, min(delay, PAUSE_S) if isinstance(task, AddConnection) else delay)

    async def getconn(self, timeout: float | None = None) -> AsyncConnection[DictRow]:
        """A connection that works. Raises PoolTimeout."""
        limit_s = self.timeout if timeout is None else timeout
        if self._away_s is None:
            return await super().getconn(limit_s)
        give_up_at = time.monotonic() + (min(limit_s, self._away_s) if self._is_away else limit_s)
        while True:  # ends: each connection that does not work is dropped, and new ones are waited for
            connection = await super().getconn(give_up_at - time.monotonic())
            if _is_cut(connection):
                await self.putconn(connection)
                continue
            if not self._is_away and time.monotonic() - self._answered_at < QUIET_S:
                return connection
            if await self._is_working(connection, self._away_s):
                return connection

    async def putconn(self, conn: AsyncConnection[DictRow]) -> None:
        """Take a connection back. One in the midst of a transaction is closed: to roll back could be cancelled, too."""
        is_idle = conn.pgconn.transaction_status == TransactionStatus.IDLE
        self._answered_at = time.monotonic() if is_idle else -math.inf
        if not conn.closed and (not is_idle or _is_unfit(conn)):
            await conn.close()
        await super().putconn(conn)

    async def _getconn_unchecked(self, timeout: float) -> AsyncConnection[DictRow]:
        async with self._lock:
            connection = await self._get_ready_connection(timeout)
            if connection is None:
                waiter = _Waiter()
                self._waiting.append(waiter)
                self._maybe_grow_pool()
        if connection is None:
            connection = await self._wait_as(waiter, timeout)
        connection._pool = self  # which marks it as handed out
        return connection

    async def _wait_as(self, waiter: _Waiter, timeout: float) -> AsyncConnection[DictRow]:
        self._stats[self._REQUESTS_QUEUED] += 1
        began = time.monotonic()
        try:
            return await waiter.wait(timeout)
        except BaseException:
            self._stats[self._REQUESTS_ERRORS] += 1
            if waiter.conn is not None:  # It came at the same time.
                await self._putconn(waiter.conn, from_getconn=True)
            else:
                with contextlib.suppress(ValueError):
                    self._waiting.remove(waiter)
            raise
        finally:
            self._stats[self._REQUESTS_WAIT_MS] += int(1_000 * (time.monotonic() - began))

    async def _shrink_pool(self) -> None:
        self._pool.rotate(1)  # the one that was used longest ago is dropped first
        await super()._shrink_pool()

    async def _signal_stop_worker(self) -> list["asyncio.Task[None]"]:
        # What they connect to may never answer.
        for task in self._connecting:
            task.cancel()
        return await super()._signal_stop_worker()

    async def _connect(self, timeout: float | None = None) -> AsyncConnection[DictRow]:
        try:
            async with self._turn if self._is_away else contextlib.nullcontext():
                connection = await self._attempt(timeout)
        except psycopg.OperationalError as error:
            self._note_outage()
            if self._pool_full_event and self._is_final(error):  # Somebody waits for the first connection.
                self._final_error = error
                self._pool_full_event.set()
            raise
        self._note_answer()
        return connection

    async def _attempt(self, timeout: float | None) -> AsyncConnection[DictRow]:
        if self.closed:
            raise PoolClosed("the pool was closed meanwhile")
        task = asyncio.current_task()
        assert task is not None
        self._connecting.add(task)
        try:
            return await super()._connect(timeout)
        finally:
            self._connecting.discard(task)

    async def _is_working(self, connection: AsyncConnection[DictRow], limit_s: float) -> bool:
        """Whether a connection works; one that does not is dropped.

        Raises:
            PoolTimeout: It does not answer in time. It comes back to the pool when it does: to cut it off would wait as well.
        """
        trial = self._spawn(self.check_connection(connection))
        try:
            # The second wait is for a process that stood still itself, and has to read the answer first.
            is_over = bool(
                (await asyncio.wait({trial}, timeout=limit_s))[0]
                or (await asyncio.wait({trial}, timeout=GRACE_S))[0]
            )
        except asyncio.CancelledError:
            self._spawn(self._return_after(trial, connection))
            raise
        if not is_over:
            self._note_outage()
            self._spawn(self._return_after(trial, connection))
            raise PoolTimeout(f"{AWAY}: a connection does not answer")
        if trial.exception() is not None:
            await self.putconn(connection)
            return False
        self._note_answer()
        return True

    async def _return_after(self, trial: "asyncio.Task[None]", connection: AsyncConnection[DictRow]) -> None:
        await asyncio.wait({trial})
        if trial.exception() is None:
            self._note_answer()
        await self.putconn(connection)

    def _note_answer(self) -> None:
        self._is_away = False
        self._answered_at = time.monotonic()

    def _note_outage(self) -> None:
        if not self._is_away and self._away_s is not None:
            asyncio.get_running_loop().call_later(self._away_s, self._turn_away)
        self._is_away = True

    def _turn_away(self) -> None:
        if self._is_away and not self.closed:
            self._spawn(self._fail_waiting())

    async def _fail_waiting(self) -> None:
        """Let those who have waited since before the outage was known wait no longer."""
        for client in tuple(self._waiting):
            await client.fail(PoolTimeout(AWAY))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)
        return task


def _is_unfit(connection: AsyncConnection[DictRow]) -> bool:
    """Whether a connection may only read, or was left in the midst of a pipeline by somebody who was cancelled.

    In a pipeline the writes of others would be answered, and committed only when somebody ends it.
    """
    # Postgres reports both by itself, so that asking costs nothing.
    status = connection.pgconn.parameter_status
    reads_only = b"on" in (status(b"in_hot_standby"), status(b"default_transaction_read_only"))
    return reads_only or connection.pgconn.pipeline_status != PipelineStatus.OFF


def _is_cut(connection: AsyncConnection[DictRow]) -> bool:
    """Whether the server has closed a connection, as far as this machine knows; it asks nobody."""
    try:
        # A server that stops says so before it closes, and a read takes one of the two.
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return True
    return connection.closed
