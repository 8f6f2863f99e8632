"""Items that a duty of workers has failed at: each rests for a pause that grows with its failures, and no other waits for it."""

import errno
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg_pool import PoolTimeout

from chiron_workers.db.outages import is_away
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError, ServiceUnavailable
from chiron_workers.states import Duty

SQL = load(__file__)
PAUSE_MIN = timedelta(seconds=10)  # after the first failure; twice as long after each further one
PAUSE_MAX = timedelta(hours=1)
PAUSE_OF_SERVICE = timedelta(
    seconds=30
)  # after each failure of a service that is away, and so no fault of the item
REASON_CHARS = 500
# The process itself lacks files, memory or processes: whatever it does next fails as well.
ERRNOS_OF_PROCESS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN)

Connect = Callable[[], AbstractAsyncContextManager[AsyncConnection[DictRow]]]


def is_fault_of_process(error: BaseException) -> bool:
    """Whether the process lacks memory, files or threads, so that it fails at every item alike."""
    if isinstance(error, OSError):
        return error.errno in ERRNOS_OF_PROCESS
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "new thread" in str(error))


@asynccontextmanager
async def isolated(
    connect: Connect, duty: Duty, item: UUID | str, *, has_failed: bool = False
) -> AsyncIterator[None]:
    """Handle one item of a duty. Its failure is logged and stored, and the block ends without an error.

    Args:
        connect: Lends a connection, as `pool.connection` does.
        has_failed: Whether a failure of the item is stored; it is cleared once the block succeeds.

    Raises:
        Exception: What is no failure of the item: Postgres is away or takes no writes, or the process lacks memory or files.
    """
    try:
        yield
    except Exception as error:
        if is_fault_of_process(error) or is_away(error):
            raise
        await record(connect, duty, item, error)
    else:
        if has_failed:
            await clear(connect, duty, [item])


async def record(connect: Connect, duty: Duty, item: UUID | str, error: Exception) -> None:
    """Log and store a failure. Where Postgres refuses to store it, it is logged alone, and the item is tried again at once.

    Raises:
        psycopg.Error, PoolTimeout: Postgres is away.
    """
    import structlog  # which a command that only reads never needs

    from chiron_workers.instruments import record_duty_failure

    is_away_elsewhere = isinstance(error, ServiceUnavailable)
    args = {
        "duty": duty,
        "item": str(item),
        "reason": reason_of(error),
        "pause_min": PAUSE_OF_SERVICE if is_away_elsewhere else PAUSE_MIN,
        "pause_max": PAUSE_OF_SERVICE if is_away_elsewhere else PAUSE_MAX,
    }
    log = structlog.get_logger()
    row = None
    try:
        async with connect() as connection:
            row = await (await connection.execute(SQL["record"], args)).fetchone()
    except (psycopg.Error, PoolTimeout) as refusal:
        if is_away(refusal):
            raise
        log.exception("duty.failure_not_stored", duty=duty, item=str(item))
    if not is_away_elsewhere:
        record_duty_failure(duty)
    # A traceback is for a fault of the program alone.
    say = log.warning if isinstance(error, (ChironError, psycopg.Error)) else log.exception
    say("duty.failed", duty=duty, item=str(item), reason=reason_of(error), **(row or {}))


async def clear(connect: Connect, duty: Duty, items: Sequence[UUID | str]) -> None:
    """Forget the failures of items that succeeded."""
    async with connect() as connection:
        await connection.execute(SQL["clear"], {"duty": duty, "items": [str(item) for item in items]})


async def failed_items(connection: AsyncConnection[DictRow], duty: Duty) -> dict[str, bool]:
    """The items that a duty has failed at, and whether each rests now."""
    rows = await (await connection.execute(SQL["of_duty"], {"duty": duty})).fetchall()
    return {row["item"]: row["is_resting"] for row in rows}


def reason_of(error: BaseException) -> str:
    """The error as a sentence that Postgres can store."""
    text = str(error).strip() or "no reason"
    if not isinstance(error, ChironError):
        text = f"{type(error).__name__}: {text}"
    return text.encode(errors="replace").decode().replace("\0", "\ufffd")[:REASON_CHARS]
