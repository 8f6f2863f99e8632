"""A real Postgres that refuses writes for a while, as with a full disk, after a failover or at a timeout."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

REFUSE = """
create table refusals (code text);
create function refuse() returns trigger language plpgsql as $$
declare
  refusal text := (select code from refusals);
begin
  if refusal is not null then
    raise exception 'refused by the test' using errcode = refusal;
  end if;
  return new;
end $$;
"""
BEFORE = {"entries": "when (new.kind = 'reply')", "tool_results": "", "side_replies": ""}


@contextmanager
def admin(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection that may write whatever the database says."""
    options = "-c default_transaction_read_only=off -c statement_timeout=0"
    with psycopg.connect(database_url, autocommit=True, options=options) as connection:
        yield connection


def refuse(database_url: str, *, table: str, code: str) -> Callable[[], None]:
    """Let Postgres refuse new rows of a table with this SQLSTATE until the returned function is called."""
    with admin(database_url) as connection:
        connection.execute(REFUSE)
        connection.execute("insert into refusals values (%s)", [code])
        connection.execute(
            f"create trigger refuse before insert on {table} for each row {BEFORE[table]} execute function refuse()"
        )

    def heal() -> None:
        with admin(database_url) as connection:
            connection.execute("delete from refusals")

    return heal


def set_for_database(database_url: str, setting: str, value: str | None) -> None:
    """Set it for all sessions of the database, those of now ended; None: for new sessions, as it was."""
    with admin(database_url) as connection:
        name = sql.Identifier(connection.info.dbname)
        change = f"set {setting} = {value}" if value else f"reset {setting}"
        connection.execute(sql.SQL(f"alter database {{}} {change}").format(name))
        if value:
            connection.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and pid <> pg_backend_pid()"
            )
