from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from chiron_workers.errors import ConfigurationError, ServiceUnavailable

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]

# What a restart of Postgres raises, here and there.
OUTAGE_ERRORS = (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout)

# No transaction here waits for anything but Postgres, so an idle one belongs to a process that is gone.
# Postgres' default cost of a random page is that of a spinning disk, and its JIT costs more than these queries.
OPTIONS = (
    "-c idle_in_transaction_session_timeout=30s -c jit=off -c random_page_cost=1.1 -c application_name=chiron"
)


def require_url(database_url: str) -> str:
    """The URL itself. Raises ConfigurationError where there is none, saying how to get one."""
    if not database_url:
        raise ConfigurationError(
            "No database is known. Start the embedded services with `chiron up`, or set CHIRON_DATABASE_URL."
        )
    return database_url


@asynccontextmanager
async def open_pool(database_url: str, *, size: int) -> AsyncIterator[Pool]:
    """A pool of autocommit connections whose rows are dicts.

    Raises:
        ServiceUnavailable: Postgres does not answer within 10 s.
    """
    pool: Pool = AsyncConnectionPool(
        require_url(database_url),
        connection_class=AsyncConnection[DictRow],
        kwargs={"autocommit": True, "row_factory": dict_row, "options": OPTIONS},
        min_size=1,
        max_size=size,
        timeout=30,
        open=False,
    )
    try:
        await pool.open()
        await _wait(pool, database_url)
        yield pool
    finally:
        await pool.close()


async def _wait(pool: Pool, database_url: str) -> None:
    try:
        await pool.wait(timeout=10)
    except PoolTimeout:
        raise ServiceUnavailable(await _reason(database_url)) from None


async def _reason(database_url: str) -> str:
    try:
        async with await AsyncConnection.connect(database_url, connect_timeout=3):
            return "Postgres answers slowly; try again."
    except psycopg.OperationalError as error:
        return _unreachable(error)


def _unreachable(error: Exception) -> str:
    words = " ".join(str(error).split()).rstrip(".?")
    return f"Postgres cannot be reached: {words}. Is it running (`chiron status`), and is CHIRON_DATABASE_URL right?"


def connect(database_url: str, **kwargs: Any) -> psycopg.Connection[DictRow]:
    """One autocommit connection for a thread of its own (renewal, migrations, doctor)."""
    try:
        return psycopg.connect(
            require_url(database_url), autocommit=True, row_factory=dict_row, connect_timeout=10, **kwargs
        )
    except psycopg.OperationalError as error:
        raise ServiceUnavailable(_unreachable(error)) from None
