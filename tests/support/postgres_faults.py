"""Faults of a Postgres that can be reached: it refuses to write, or a statement takes as long as a test wants."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

GATE = 7_777  # an advisory lock: while a test holds it, who saves a slow node waits in the midst of its transaction
SLOW_TITLE = "slow"
WRITTEN = ("runs", "entries", "tool_results", "events", "batches", "spending", "nodes", "notes")
# Refusals are those of Postgres itself; only their cause is made.
TRIGGERS = f"""
create table injected_faults (name text primary key);

create function refuse_writes() returns trigger language plpgsql as $$
begin
  if exists (select from injected_faults where name = 'disk full') then
    raise 'could not extend file: No space left on device' using errcode = '53100';
  end if;
  return null;
end $$;

create function wait_at_gate() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared({GATE});
  return new;
end $$;

create trigger nodes_wait_at_gate
  before insert on nodes
  for each row
  when (new.title like '{SLOW_TITLE}%')
  execute function wait_at_gate();
"""
REFUSE = """
create trigger refuse_writes
  before insert or update on {}
  for each statement
  execute function refuse_writes()
"""
WAITING_AT_GATE = """
select distinct application_name as name
  from pg_locks
  join pg_stat_activity using (pid)
 where locktype = 'advisory'
   and objid = %s
   and not granted
   and application_name like 'w%%'
"""
OTHERS = """
select pg_terminate_backend(pid)
  from pg_stat_activity
 where datname = current_database()
   and pid <> pg_backend_pid()
   and backend_type = 'client backend'
"""


@dataclass(frozen=True, slots=True)
class PostgresFaults:
    """Faults of one database; a connection of its own is never refused."""

    connection: psycopg.Connection[tuple[Any, ...]]

    @contextmanager
    def full_disk(self) -> Iterator[None]:
        """Every write of a run fails with 53100."""
        self.connection.execute("insert into injected_faults values ('disk full')")
        try:
            yield
        finally:
            self.connection.execute("delete from injected_faults")

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """All connections are lost, and new ones may only read (25006), as after a failover to a standby."""
        self._set_read_only("on")
        try:
            yield
        finally:
            self._set_read_only("off")

    @contextmanager
    def closed_gate(self) -> Iterator[None]:
        """Whoever saves a node whose title begins with `slow` waits until the block ends, and holds its locks."""
        self.connection.execute("select pg_advisory_lock(%s)", [GATE])
        try:
            yield
        finally:
            self.connection.execute("select pg_advisory_unlock(%s)", [GATE])

    def waiting_at_gate(self) -> list[str]:
        """The application names of those that wait at the gate."""
        return [name for (name,) in self.connection.execute(WAITING_AT_GATE, [GATE])]

    def _set_read_only(self, value: str) -> None:
        name = sql.Identifier(self.connection.info.dbname)
        setting = sql.SQL("alter database {} set default_transaction_read_only = {}")
        self.connection.execute(setting.format(name, sql.SQL(value)))
        self.connection.execute(OTHERS)


@contextmanager
def postgres_faults(database_url: str) -> Iterator[PostgresFaults]:
    """Prepare a database for faults."""
    options = "-c default_transaction_read_only=off"
    with psycopg.connect(database_url, autocommit=True, options=options) as connection:
        connection.execute(TRIGGERS)
        for table in WRITTEN:
            connection.execute(sql.SQL(REFUSE).format(sql.Identifier(table)))
        yield PostgresFaults(connection)
