"""Postgres: reachable, new enough, with pgvector, and with the current schema."""

import re
from collections.abc import Iterator

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg.sql import Identifier

from chiron_api.local_stack.checks import Check
from chiron_api.text import count
from chiron_workers.db.connections import SteadyThreadConnection
from chiron_workers.db.migrate import pending
from chiron_workers.db.queries import load
from chiron_workers.embeddings import open_embedder
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import Settings

ORDER = 20
SQL = load(__file__)
OLDEST_SERVER = 15
OLDEST_PGVECTOR = (0, 8)

# What libpq says, and what to do. The server sends no error code with a refusal.
REFUSALS = {
    "password authentication failed": "Correct the user or the password in CHIRON_DATABASE_URL.",
    "no password supplied": "Add the password: CHIRON_DATABASE_URL=postgresql://USER:PASSWORD@HOST/DATABASE.",
    "no pg_hba.conf entry": "Allow this machine in the server's pg_hba.conf, or try sslmode=require in the URL.",
    'database ".*" does not exist': "Create it (`create database NAME`), or name another one in CHIRON_DATABASE_URL.",
    'role ".*" does not exist': "Create the role, or name another user in CHIRON_DATABASE_URL.",
    "(translate|resolve) host": "Correct the host in CHIRON_DATABASE_URL.",
    "too many clients": "Raise max_connections on the server, or lower CHIRON_POOL_SIZE.",
    "starting up": "Wait until the server has recovered, and look again.",
    "refused|No such file|timeout": (
        "Start it (`chiron up` for the own one), or correct host and port in CHIRON_DATABASE_URL."
    ),
}
OTHER_REFUSAL = "Look whether the server runs, and whether CHIRON_DATABASE_URL is right."


def checks(settings: Settings) -> list[Check]:
    """What Postgres says; the first failure to connect ends the questions."""
    if not settings.database_url:
        advice = "Start the own one with `chiron up`, or set CHIRON_DATABASE_URL."
        return [Check("postgres", "No database is known.", advice)]
    try:
        with SteadyThreadConnection.connect(
            settings.database_url, autocommit=True, connect_timeout=5, row_factory=dict_row
        ) as connection:
            return list(_checks_of_server(connection, settings))
    except psycopg.OperationalError as error:
        return [refusal(settings.database_url, error)]
    except psycopg.ProgrammingError:
        example = "Write it as postgresql://USER:PASSWORD@HOST:5432/DATABASE."
        return [Check("postgres", "CHIRON_DATABASE_URL is no PostgreSQL URL.", example)]


def refusal(database_url: str, error: psycopg.OperationalError) -> Check:
    """Why Postgres did not let us in, without the password."""
    text = str(error).strip()
    reason = text.split("FATAL:")[-1].split("failed: ")[-1].strip().splitlines()[0].rstrip(" .")
    advice = next((advice for words, advice in REFUSALS.items() if re.search(words, text)), OTHER_REFUSAL)
    return Check("postgres", f"Postgres {_where(database_url)} cannot be reached: {reason}.", advice)


def server_version(number: int) -> Check:
    """Whether the server is new enough; `number` as in `server_version_num`, for example 180006."""
    advice = f"Upgrade it to {OLDEST_SERVER} or newer."
    finding = f"PostgreSQL {number // 10_000}.{number % 10_000}."
    return Check("postgres version", finding, advice if number < OLDEST_SERVER * 10_000 else "")


def pgvector(available_version: str | None, installed_version: str | None, *, server: str) -> Check:
    """Whether the extension is there and new enough; `server` is what `select version()` says."""
    if available_version is None:
        return Check("pgvector", "The server has no pgvector.", _installation(server))
    if _version_tuple(available_version) < OLDEST_PGVECTOR:
        return Check("pgvector", f"The server has pgvector {available_version}.", _installation(server))
    if installed_version is None:
        advice = "Run `chiron migrate`, which does it."
        return Check(
            "pgvector", f"pgvector {available_version} is there, but not installed in this database.", advice
        )
    if _version_tuple(installed_version) < OLDEST_PGVECTOR:
        return Check(
            "pgvector",
            f"This database has pgvector {installed_version}.",
            "Run `alter extension vector update` in it.",
        )
    return Check("pgvector", f"pgvector {installed_version}.")


def _installation(server: str) -> str:
    """How to get a pgvector that is new enough, on the system that the server says it runs on."""
    # Debian and Ubuntu have older ones of their own; those of the PostgreSQL project's packages are new enough.
    if match := re.match(r"PostgreSQL (\d+)\S* \((?:Debian|Ubuntu) \S*pgdg", server):
        return f"Install it on the server: apt install postgresql-{match[1]}-pgvector."
    return (
        "Install 0.8 or newer on the server, as https://github.com/pgvector/pgvector#installation says for its system, "
        "or unset CHIRON_DATABASE_URL: `chiron up` then starts a Postgres that has it."
    )


def _checks_of_server(connection: Connection[dict[str, str | None]], settings: Settings) -> Iterator[Check]:
    number = connection.info.server_version
    yield Check("postgres", f"Postgres {_where(settings.database_url)} answers.")
    yield server_version(number)
    row = connection.execute(SQL["pgvector"]).fetchone()
    assert row is not None
    yield pgvector(row["default_version"], row["installed_version"], server=str(row["server"]))
    if migrations := pending(settings.database_url):
        yield Check("schema", f"The database lacks {', '.join(migrations)}.", "Run `chiron migrate`.")
    else:
        yield Check("schema", "The schema is up to date.")
        yield _embeddings(connection, settings)


def _embeddings(connection: Connection[dict[str, str | None]], settings: Settings) -> Check:
    try:
        space = open_embedder(settings).space
    except ConfigurationError as error:
        return Check("embeddings", "No embedding model is set up.", str(error))
    key = {"model": space.model, "hash": space.hash, "dimensions": space.dimensions}
    table = connection.execute(SQL["space"], key).fetchone()
    condition = (
        SQL["lacking"].format(table=Identifier(str(table["table_name"])))
        if table
        else SQL["lack_all"].format()
    )
    row = connection.execute(SQL["unembedded"].format(lacking=condition)).fetchone()
    if row and (facts := int(row["facts"] or 0)):
        finding = (
            f"{count(facts, 'fact has', 'facts have')} no vector of {space.model}: found by words alone."
        )
        return Check("embeddings", finding, "Run `chiron reembed`; workers may go on meanwhile.")
    return Check("embeddings", f"Every fact has its vector of {space.model}.")


def _where(database_url: str) -> str:
    parts = conninfo_to_dict(database_url)
    return f"{parts.get('dbname') or 'postgres'} at {parts.get('host') or 'the local socket'}"


def _version_tuple(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
