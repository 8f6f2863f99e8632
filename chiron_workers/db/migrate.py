import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from psycopg import Connection, Error, errors
from psycopg.rows import DictRow

from chiron_workers.db.connect import OPTIONS, Pool, connect, fetch_one, require_session
from chiron_workers.db.outages import is_outage
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError, ServiceUnavailable

SQL = load(__file__)
MIGRATIONS = Path(__file__).parent / "migrations"
TRIES = 60
PAUSE_S = 0.5
KEEPS = "what was applied before it stays"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file: `0001_runs.sql` is version 1."""

    version: int
    name: str
    text: str


Applied = Callable[[Connection[DictRow], Migration], None]


def migrations() -> list[Migration]:
    """All migrations that ship, oldest first."""
    return [
        Migration(int(file.name[:4]), file.stem, file.read_text())
        for file in sorted(MIGRATIONS.glob("*.sql"))
    ]


def tables() -> list[str]:
    """Every table that the migrations make, partitions and vectors apart."""
    return sorted({"schema_migrations", *_created("table")})


def views() -> list[str]:
    """Every view that the migrations make."""
    return sorted(_created("view"))


def functions() -> list[str]:
    """Every function that the migrations make."""
    return sorted(_created("function"))


def _created(kind: str) -> set[str]:
    statement = re.compile(rf"^create (?:or replace )?{kind} (\w+)", flags=re.MULTILINE)
    return {name for migration in migrations() for name in statement.findall(migration.text)}


def migrate(database_url: str, *, on_applied: Applied = lambda _connection, _migration: None) -> list[str]:
    """Bring the schema up to date; the names of what was applied, empty if nothing was missing.

    Each migration commits by itself: one that fails leaves those before it applied, and the next call goes on there.
    Two calls at once are safe: the second waits for the first and then finds nothing to do. Workers may go on: a
    migration that would wait long for them, or they for it, lets go and tries again.

    Args:
        on_applied: Called in the transaction of each migration, which commits what it writes or neither.

    Raises:
        ChironError: The database is newer than this program, or a migration fails, or something is in its way for long.
        ServiceUnavailable: Postgres went away.
        ConfigurationError: The address is that of a pooler, where the lock would keep nobody out.
    """
    with connect(database_url, options=OPTIONS) as connection:
        require_session(connection)
        connection.execute(SQL["lock"])
        create_table(connection)
        versions = {row["version"] for row in connection.execute(SQL["applied"])}
        known_migrations = migrations()
        refuse_newer(versions, known_migrations)
        new_migrations = [migration for migration in known_migrations if migration.version not in versions]
        for migration in new_migrations:
            _apply(connection, migration, on_applied)
        return [migration.name for migration in new_migrations]


def create_table(connection: Connection[DictRow]) -> None:
    """Make the table of applied migrations where there is none."""
    connection.execute(SQL["create_table"])


def apply_within(connection: Connection[DictRow], migration: Migration) -> None:
    """Apply a migration in the transaction of the caller, who has the tables to itself, and record nothing.

    Raises:
        ChironError: It fails; the transaction with it.
    """
    try:
        connection.execute(migration.text)
    except Error as error:
        if is_outage(error):
            raise ServiceUnavailable("The connection to Postgres was lost.") from None
        reason, cure = _reason_and_cure(error)
        raise ChironError(f"Migration {migration.name} fails: {reason}. {cure}.") from None


def record(connection: Connection[DictRow], migration: Migration) -> None:
    """Note that a migration is applied."""
    connection.execute(SQL["record"], {"version": migration.version, "name": migration.name})


def _apply(connection: Connection[DictRow], migration: Migration, on_applied: Applied) -> None:
    for _ in range(TRIES):
        try:
            with connection.transaction():
                connection.execute(SQL["give_way"])
                connection.execute(migration.text)  # a file that ships with the package
                connection.execute(SQL["report_back"])
                record(connection, migration)
                on_applied(connection, migration)
        except (errors.LockNotAvailable, errors.DeadlockDetected):
            time.sleep(PAUSE_S)
        except Error as error:
            if is_outage(error):
                raise ServiceUnavailable(
                    f"The connection to Postgres was lost in migration {migration.name}. Run `chiron migrate` again once it "
                    f"is back: {KEEPS}."
                ) from None
            raise _migration_failed(migration, error) from None
        else:
            return
    raise ChironError(
        f"Migration {migration.name} waits for something that reads or writes the tables for long (a backup, a long "
        f"query). Wait for it or end it, and run `chiron migrate` again: {KEEPS}."
    )


def _migration_failed(migration: Migration, error: Error) -> ChironError:
    reason, cure = _reason_and_cure(error)
    return ChironError(
        f"Migration {migration.name} fails: {reason}. {cure}, and run `chiron migrate` again: {KEEPS}."
    )


def _reason_and_cure(error: Error) -> tuple[str, str]:
    match error:
        case errors.UndefinedFile() | errors.FeatureNotSupported():
            cure = "Install pgvector 0.8 or newer on the server"
        case errors.InsufficientPrivilege():
            cure = (
                "Let a superuser run `create extension vector; create extension btree_gin;` in this database"
            )
        case _:
            cure = "Put that right"
    reason = error.diag.message_primary or " ".join(str(error).split())
    return reason.rstrip("."), cure


def pending(database_url: str) -> list[str]:
    """The names of the migrations that the database lacks; changes nothing."""
    with connect(database_url) as connection:
        row = connection.execute(SQL["has_table"]).fetchone()
        versions = (
            {row["version"] for row in connection.execute(SQL["applied"])} if row and row["has"] else set()
        )
    return _lacking(versions)


async def pending_in(pool: Pool) -> list[str]:
    """As `pending`, over a connection of a pool. Raises PoolTimeout."""
    async with pool.connection() as connection:
        has_table = await fetch_one(connection, SQL["has_table"])
        rows = await (await connection.execute(SQL["applied"])).fetchall() if has_table["has"] else []
    return _lacking({row["version"] for row in rows})


def _lacking(versions: set[int]) -> list[str]:
    return [migration.name for migration in migrations() if migration.version not in versions]


def refuse_newer(
    versions: set[int], known_migrations: list[Migration], *, owner: str = "The database"
) -> None:
    """Raises ChironError where a schema has seen migrations that this program does not know."""
    if unknown := versions - {migration.version for migration in known_migrations}:
        raise ChironError(
            f"{owner} is at schema version {max(unknown)}, newer than this program. Install the newer chiron."
        )
