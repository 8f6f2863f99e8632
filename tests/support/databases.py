"""One database a test process, made from a template and emptied after each test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psycopg
from psycopg import sql

from chiron_workers import ids

# Whatever a test may change beside rows. A table that was truncated keeps its oid; one that was analysed has statistics.
SCHEMA = """
with tables as (select * from pg_class where relnamespace = to_regnamespace('public'))
select md5(string_agg(part, ',' order by part)) from (
  select concat('relation', oid, relname, relpersistence, reloptions) from tables
  union all select concat('column', attrelid, attname, atttypid, attnotnull, attisdropped)
              from pg_attribute join tables on tables.oid = attrelid where attnum > 0
  union all select concat('constraint', oid, conname) from pg_constraint
             where connamespace = to_regnamespace('public')
  union all select concat('function', pg_proc.oid, proname, pg_proc.xmin) from pg_proc
             where pronamespace = to_regnamespace('public')
  union all select concat('trigger', pg_trigger.oid, tgname, tgenabled)
              from pg_trigger join tables on tables.oid = tgrelid
  union all select concat('setting', setrole, setconfig) from pg_db_role_setting
             where setdatabase = (select oid from pg_database where datname = current_database())
  union all select concat('statistics', starelid) from pg_statistic join tables on tables.oid = starelid
  union all select concat('schema', nspname) from pg_namespace
) as parts (part)
"""
TABLES = """
select relname from pg_class
 where relnamespace = to_regnamespace('public') and relkind = 'r' order by relname
"""
SEQUENCES = "select setval(seqrelid::regclass, seqstart, false) from pg_sequence"
OTHERS = (
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> pg_backend_pid()"
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A database as the template left it: what it is made of, its tables, and the rows of those that have some.

    `connection` stays open: a new one reads the catalog of each table anew, which takes five times as long as to empty them.
    """

    connection: psycopg.Connection
    schema: str
    tables: frozenset[str]
    rows: dict[str, str]


@dataclass(slots=True)
class Databases:
    """Databases on one server, by copies of a template; the last copy is used again if it can be emptied."""

    server_url: str
    template: str
    _spare: str | None = field(default=None)
    _snapshots: dict[str, Snapshot] = field(default_factory=dict)

    @contextmanager
    def lend(self) -> Iterator[str]:
        """The URL of a migrated database without rows, for one test."""
        name, self._spare = self._spare or self._copy(), None
        if name not in self._snapshots:
            self._snapshots[name] = self._snapshot(name)
        yield self.url_of(name)
        if self._spare is None and self._empty(name):
            self._spare = name
        else:
            self._drop(name)

    @contextmanager
    def lend_copy(self) -> Iterator[str]:
        """The URL of a migrated database that nobody is connected to, for one test that changes it for good or counts who is."""
        name = self._copy()
        yield self.url_of(name)
        self._drop(name)

    @contextmanager
    def lend_blank(self) -> Iterator[str]:
        """The URL of a database with nothing in it, for one test."""
        name = f"e_{ids.new_id().hex}"
        with psycopg.connect(self.server_url, autocommit=True) as server:
            server.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        yield self.url_of(name)
        self._drop(name)

    def close(self) -> None:
        """Close the connections; the databases stay with their server."""
        for snapshot in self._snapshots.values():
            snapshot.connection.close()

    def url_of(self, name: str) -> str:
        """The URL of a database of this server."""
        return self.server_url.replace("/postgres?", f"/{name}?")

    def _copy(self) -> str:
        name = f"t_{ids.new_id().hex}"
        with psycopg.connect(self.server_url, autocommit=True) as server:
            copy = sql.SQL("create database {} template {}")
            server.execute(copy.format(sql.Identifier(name), sql.Identifier(self.template)))
        return name

    def _snapshot(self, name: str) -> Snapshot:
        database = psycopg.connect(self.url_of(name), autocommit=True)
        tables = _tables(database)
        rows = {table: digest for table in tables if (digest := _digest(database, table))}
        return Snapshot(database, _schema(database), frozenset(tables), rows)

    def _drop(self, name: str) -> None:
        if snapshot := self._snapshots.pop(name, None):
            snapshot.connection.close()
        with psycopg.connect(self.server_url, autocommit=True) as server:
            server.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))

    def _empty(self, name: str) -> bool:
        """Empty a database; False if that does not make it what the template left."""
        snapshot = self._snapshots[name]
        database = snapshot.connection
        try:
            database.execute(OTHERS, (name,))
            database.execute("set lock_timeout = '5s'")
            self._remove_rows(database, snapshot)
            rows = {table: _digest(database, table) for table in snapshot.rows}
            return _schema(database) == snapshot.schema and rows == snapshot.rows
        except psycopg.Error:
            return False  # A test that broke or locked its database gets it dropped.

    @staticmethod
    def _remove_rows(database: psycopg.Connection, snapshot: Snapshot) -> None:
        tables = _tables(database)
        if new := [table for table in tables if table not in snapshot.tables]:
            database.execute(sql.SQL("drop table if exists {} cascade").format(_names(new)))
        present = [table for table in tables if table in snapshot.tables - snapshot.rows.keys()]
        query = sql.SQL(" union all ").join(
            sql.SQL("(select {} as name from {} limit 1)").format(sql.Literal(table), sql.Identifier(table))
            for table in present
        )
        if full := [row[0] for row in database.execute(query)]:
            _clear(database, full)


def _clear(database: psycopg.Connection, tables: list[str]) -> None:
    # Truncating would cascade to nearly all tables, at 100 ms; a vacuumed table is as small, but for its statistics.
    database.execute("set session_replication_role = replica")
    for table in tables:
        database.execute(sql.SQL("delete from {}").format(sql.Identifier(table)))
    database.execute(sql.SQL("vacuum {}").format(_names(tables)))
    database.execute(
        "select pg_clear_relation_stats('public', name) from unnest(%s::text[]) as name", (tables,)
    )
    database.execute(SEQUENCES)


def _tables(database: psycopg.Connection) -> list[str]:
    return [row[0] for row in database.execute(TABLES)]


def _schema(database: psycopg.Connection) -> str | None:
    row = database.execute(SCHEMA).fetchone()
    return row[0] if row else None


def _digest(database: psycopg.Connection, table: str) -> str | None:
    query = sql.SQL("select md5(string_agg({table}::text, ',' order by {table}::text)) from {table}")
    row = database.execute(query.format(table=sql.Identifier(table))).fetchone()
    return row[0] if row else None


def _names(tables: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, tables))
