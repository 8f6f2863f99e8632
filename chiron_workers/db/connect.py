import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Composed
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from chiron_workers.db.connections import SteadyConnection, SteadyThreadConnection
from chiron_workers.db.parameters import register_dumpers
from chiron_workers.db.pool import SteadyPool
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError, ConfigurationError, ServiceUnavailable

QUERIES = load(__file__)
Pool = AsyncConnectionPool[AsyncConnection[DictRow]]
Query = SQL | Composed

# A host that is away is asked anew rather than for longer: TCP waits longer each time before it sends its packet again.
CONNECT_TIMEOUT_S = 5
# A host that vanishes without a word is noticed within half a minute rather than after many, and within seconds where
# something was sent. TCP sends again ever more seldom, so a longer wait would outlast the return of the host as well.
KEEPALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 5_000,
}

# The same for the Postgres process behind a connection, which keeps its locks and its place among `max_connections` while it
# believes in a host that is lost: it ends within half a minute while it waits for us, and `client_connection_check_interval`
# later in the midst of a statement. By itself it would take two hours, or the time that the statement takes.
SERVER_KEEPALIVE = {
    "tcp_keepalives_idle": "10s",
    "tcp_keepalives_interval": "5s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "25s",
    "client_connection_check_interval": "10s",
}

# No transaction here waits for anything but Postgres, so an idle one belongs to a process that is gone or stands still, and
# others wait for what it has locked.
IDLE_S = 5
# Postgres' default cost of a random page is that of a spinning disk, and its JIT costs more than these queries.
OPTIONS = (
    f"-c idle_in_transaction_session_timeout={IDLE_S}s -c jit=off -c random_page_cost=1.1 -c application_name=chiron "
    "-c chiron.session=kept "
) + " ".join(f"-c {name}={value}" for name, value in SERVER_KEEPALIVE.items())
DECODED_ROWS = 500  # at once: a few milliseconds
# Reasons for which there is no connection, as PostgreSQL and libpq word them: they come without a SQLSTATE.
NOBODY_LISTENS = ("No such file", "Connection refused", "failed to resolve host")
PERMANENT = (
    "does not exist",  # a database or a role
    "authentication failed",
    "no password supplied",
    "is not permitted to log in",
    "no pg_hba.conf entry",
    "unsupported startup parameter",
)
EACH_ATTEMPT = "\n- host: "  # before each error, where psycopg has tried several addresses
POOLER = (
    "CHIRON_DATABASE_URL leads to a connection pooler such as pgbouncer, which drops session settings. Chiron pools its "
    "connections itself and needs sessions of its own: give it the address of PostgreSQL (port 5432, mostly)."
)


async def fetch_all(pool: Pool, query: Query, args: Mapping[str, Any] | None = None) -> list[DictRow]:
    """All rows of one statement, on a connection of its own."""
    async with pool.connection() as connection:
        return await (await connection.execute(query, args)).fetchall()


async def fetch_many(pool: Pool, query: Query, args: Mapping[str, Any] | None = None) -> list[DictRow]:
    """As `fetch_all`, for a hundred thousand rows: others of the event loop have their turns while they are decoded."""
    async with pool.connection() as connection:
        return await rows_of(await connection.execute(query, args))


async def rows_of(cursor: AsyncCursor[DictRow]) -> list[DictRow]:
    """As `fetchall`, likewise for a hundred thousand rows."""
    rows: list[DictRow] = []
    while page := await cursor.fetchmany(DECODED_ROWS):
        rows += page
        await asyncio.sleep(0)
    return rows


async def fetch_one(
    connection: AsyncConnection[DictRow], query: Query, args: Mapping[str, Any] | None = None
) -> DictRow:
    """The row of a statement that always has one."""
    row = await (await connection.execute(query, args)).fetchone()
    assert row is not None
    return row


def require_url(database_url: str) -> str:
    """The URL itself. Raises ConfigurationError where there is none, or none that can be read."""
    if not database_url:
        raise ConfigurationError(
            "No database is known. Start the embedded services with `chiron up`, or set CHIRON_DATABASE_URL."
        )
    try:
        conninfo_to_dict(database_url)
    except psycopg.ProgrammingError:  # its message would show the password
        raise ConfigurationError(
            "CHIRON_DATABASE_URL is no PostgreSQL address. It looks like postgresql://user:password@host:5432/database, "
            "with special characters of the password percent-encoded."
        ) from None
    return database_url


@asynccontextmanager
async def open_pool(
    database_url: str,
    *,
    size: int,
    idle_s: int = IDLE_S,
    away_s: float | None = None,
    is_patient: bool = False,
) -> AsyncIterator[Pool]:
    """A pool of autocommit connections whose rows are dicts.

    Args:
        idle_s: How long a transaction may be idle before Postgres ends it, with all that it locks.
        away_s: As for `SteadyPool`.
        is_patient: Whether it waits also where nobody listens, as servers do while Postgres restarts.

    Raises:
        ServiceUnavailable: Postgres does not answer within 10 s, or refuses for a reason that does not pass by itself.
        ConfigurationError: The address is that of a pooler.
    """
    pool = SteadyPool(
        require_url(database_url),
        away_s=away_s,
        connection_class=SteadyConnection,
        kwargs={
            "autocommit": True,
            "row_factory": dict_row,
            "options": f"{OPTIONS} -c idle_in_transaction_session_timeout={idle_s}s",
            "connect_timeout": CONNECT_TIMEOUT_S,
            **KEEPALIVE,
        },
        configure=_configure,
        min_size=1,
        max_size=size,
        timeout=30,
        reconnect_timeout=math.inf,  # after psycopg's five minutes nobody would connect for those who wait already
        open=False,
    )
    try:
        await pool.open()
        try:
            await pool.wait(timeout=10, is_final=partial(_is_final, is_patient=is_patient))
        except PoolTimeout:
            raise await _unreachable_now(database_url) from None
        except psycopg.OperationalError as error:
            raise _unreachable(database_url, error) from None
        (session,) = await fetch_all(pool, QUERIES["keeps_session"])
        if not session["is_kept"]:
            raise ConfigurationError(POOLER)
        yield pool
    finally:
        await pool.close()


async def _configure(connection: AsyncConnection[DictRow]) -> None:
    register_dumpers(connection)


def _is_final(error: psycopg.OperationalError, *, is_patient: bool) -> bool:
    """Whether each address refuses for good: of several, one may be just starting."""
    reasons = PERMANENT if is_patient else PERMANENT + NOBODY_LISTENS
    attempts = str(error).split(EACH_ATTEMPT)[1:] or [str(error)]
    return all(any(words in attempt for words in reasons) for attempt in attempts)


async def _unreachable_now(database_url: str) -> ChironError:
    try:
        async with await SteadyConnection.connect(database_url, options=OPTIONS, connect_timeout=3):
            return ServiceUnavailable("Postgres answers slowly; try again.")
    except psycopg.OperationalError as error:
        return _unreachable(database_url, error)


def _unreachable(database_url: str, error: Exception) -> ChironError:
    if "unsupported startup parameter" in str(error):
        return ConfigurationError(POOLER)
    # libpq's own question comes after its reason; ours is the better one.
    words = " ".join(str(error).split("Is the server running")[0].split()).rstrip(".?")
    if _is_stopped(database_url, words):
        return ServiceUnavailable(
            f"Chiron's services do not run. Start them with `chiron up`. (Postgres cannot be reached: {words}. For another one "
            "check CHIRON_DATABASE_URL.)"
        )
    return ServiceUnavailable(
        f"Postgres cannot be reached: {words}. `chiron up` starts the one of this home, `chiron status` shows it; for another "
        "one check CHIRON_DATABASE_URL."
    )


def _is_stopped(database_url: str, reason: str) -> bool:
    """Whether nobody listens on a socket, as the Postgres of a home has one."""
    has_socket = str(conninfo_to_dict(database_url).get("host", "")).startswith("/")
    return has_socket and any(words in reason for words in ("No such file", "Connection refused"))


def require_session(connection: psycopg.Connection[DictRow]) -> None:
    """Raises ConfigurationError where a pooler dropped the OPTIONS that the connection was opened with."""
    row = connection.execute(QUERIES["keeps_session"]).fetchone()
    if not row or not row["is_kept"]:
        raise ConfigurationError(POOLER)


def connect(database_url: str, *, connect_timeout: int = 10, **kwargs: Any) -> SteadyThreadConnection:
    """One autocommit connection for a thread of its own (renewal, migrations, doctor)."""
    try:
        connection = SteadyThreadConnection.connect(
            require_url(database_url),
            autocommit=True,
            row_factory=dict_row,
            connect_timeout=connect_timeout,
            **KEEPALIVE,
            **kwargs,
        )
    except psycopg.OperationalError as error:
        raise _unreachable(database_url, error) from None
    register_dumpers(connection)
    return connection
