"""What Postgres refuses, and what waits for it: sorts errors by their SQLSTATE and repeats writes until it is back."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

Value = TypeVar("Value")


OUTAGE_S = 120.0  # how long a write waits for Postgres to come back before the run is given up
# Between two attempts to reach Postgres, at most: work goes on within a second or two of its return.
PAUSE_S = 0.5
PAID_OUTAGE_S = 86_400.0  # how long a write of something that was paid for waits
WAIT_LOGGED_EVERY_S = 60.0

# Serialization failure, deadlock, lock timeout: the same statement may succeed at once.
REPEATABLE = ("40001", "40P01", "55P03")
# Shut down, crashed, not yet up; ended since its process stood still in the midst of a transaction, which is rolled back.
GOING_AWAY = ("57P01", "57P02", "57P03", "25P03")
QUERY_CANCELED = "57014"  # by a timeout of statements
# Classes of SQLSTATE that pass while nothing here changes: connections, rollbacks such as deadlocks, a full disk or
# memory, statements that a timeout or an operator ended, failed reads and writes of files.
TRANSIENT_CLASSES = ("08", "40", "53", "57", "58")
# A full disk, too many connections, read-only since a failover; ended for its time, or with its database.
REFUSES_ALL = ("53100", "53300", "25006", "25P04", "57P04", "57P05")
# Read-only since a failover; ended by a timeout of transactions; a lock that took too long.
TRANSIENT_STATES = ("25006", "25P03", "25P04", "55P03")


def is_outage(error: BaseException) -> bool:
    """Whether Postgres is away, rather than unwilling: the same write may succeed when it is back."""
    if isinstance(error, (psycopg.InterfaceError, PoolTimeout)):
        return True
    if not isinstance(error, (psycopg.OperationalError, psycopg.errors.IdleInTransactionSessionTimeout)):
        return False
    state = error.sqlstate
    return state is None or state.startswith("08") or state in GOING_AWAY + REPEATABLE


def is_transient(error: BaseException) -> bool:
    """Whether Postgres is away, or refuses for a reason that passes: a full disk, a failover, a lock, a timeout."""
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    return is_outage(error) or (
        state is not None and (state.startswith(TRANSIENT_CLASSES) or state in TRANSIENT_STATES)
    )


def is_away(error: BaseException) -> bool:
    """Whether Postgres is away or refuses every statement, rather than one for its locks, its time, its memory or its rows."""
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    if state is None:
        return is_outage(error)
    return state.startswith("08") or state in GOING_AWAY + REFUSES_ALL


def is_fault_of_data(error: BaseException) -> bool:
    """Whether Postgres refuses the values or the statement, and so will refuse them for ever."""
    # A right can be given back, and another connection knows the prepared statement.
    if isinstance(error, (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidSqlStatementName)):
        return False
    refusals = psycopg.DataError, psycopg.IntegrityError, psycopg.ProgrammingError, psycopg.NotSupportedError
    is_too_large = isinstance(error, psycopg.Error) and (error.sqlstate or "").startswith("54")
    return is_too_large or isinstance(error, refusals)


async def through_outage(attempt: Callable[[], Awaitable[Value]]) -> Value:
    """Repeat a write while Postgres is away or refuses for a reason that passes, for two minutes at most.

    The write must be safe to repeat.
    """
    return await _repeat(attempt, is_worth_waiting=is_transient, limit_s=OUTAGE_S)


async def commit_paid(attempt: Callable[[], Awaitable[Value]], *, what: str) -> Value:
    """Repeat the write of something that was paid for, whatever Postgres says but that the write itself is wrong.

    Waits for a day at most; what it waits for is logged as `<what>.waits`. A write that is fenced ends by itself when
    another worker has the run. It must be safe to repeat.
    """
    logged_at = -math.inf
    began = time.monotonic()

    def log_wait(error: BaseException) -> None:
        import structlog  # which a command that only reads never needs

        nonlocal logged_at
        if time.monotonic() - logged_at >= WAIT_LOGGED_EVERY_S:
            logged_at = time.monotonic()
            reason = " ".join(str(error).split())
            structlog.get_logger().warning(
                f"{what}.waits", waits_for=reason, waited_s=round(logged_at - began)
            )

    return await _repeat(
        attempt,
        is_worth_waiting=lambda error: not is_fault_of_data(error),
        limit_s=PAID_OUTAGE_S,
        on_wait=log_wait,
    )


async def _repeat(
    attempt: Callable[[], Awaitable[Value]],
    *,
    is_worth_waiting: Callable[[BaseException], bool],
    limit_s: float,
    on_wait: Callable[[BaseException], None] = lambda _: None,
) -> Value:
    give_up_at = time.monotonic() + limit_s
    pause_s = PAUSE_S / 5
    while True:
        try:
            return await attempt()
        except (psycopg.Error, PoolTimeout) as error:
            if isinstance(error, PoolClosed) or not is_worth_waiting(error) or time.monotonic() > give_up_at:
                raise
            on_wait(error)
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, PAUSE_S)
