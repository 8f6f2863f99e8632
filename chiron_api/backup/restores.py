"""Restores: our own migrations make the schema, and the rows of a backup are copied into it, all in one transaction."""

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import DictRow
from psycopg.sql import Composed, Identifier, Literal

from chiron_api.backup import manifest
from chiron_api.backup.archive import WORDS_BY_KIND, Archive, Entry
from chiron_workers.access.audit import record_sync
from chiron_workers.db import migrate
from chiron_workers.db.connect import connect
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError, Conflict, UsageError
from chiron_workers.knowledge.search import vectors
from chiron_workers.runs import partitions

SQL = load(__file__)
DISCONNECT_GRACE_S = 2.0  # Postgres lists a connection for a moment after it has closed.
MIGRATIONS = "schema_migrations"
SPACES = "embedding_spaces"
PARTITION = re.compile(r"events_((?:before_)?[12]\d{3}_(?:0[1-9]|1[0-2]))")
EXTENSIONS = {"vector", "btree_gin"}
# Indexes that a worker builds by itself where they are worth it, and so builds again.
NEAR_INDEX = re.compile(r"vectors_\d+_near_\w+")
Connection = psycopg.Connection[DictRow]


def restore(database_url: str, source: Path, *, force: bool = False, ours_only: bool = False) -> list[str]:
    """Put a backup back, in one transaction: all of it or nothing. Nothing in the file is executed.

    Runs that were being played when it was made are taken up by the rescue, as after a crash.

    Args:
        force: Drop what the database holds of Chiron's. Without it a database that holds data is refused.
        ours_only: Leave out what the file holds beside Chiron's own. Without it such a file is refused.

    Returns:
        The migrations that it lacked, since it was made by an older version, and that were applied to it.

    Raises:
        UsageError: The file is no backup of Chiron's.
        Conflict: Somebody is connected, or the database holds data.
        ChironError: The backup is newer than this program, damaged, or holds what no backup of ours does; nothing was
            changed.
    """
    archive = Archive.open(source)
    with connect(database_url) as connection:
        _refuse_connected_clients(connection)
        is_ours = bool(_row(connection, "is_ours")["is_ours"])
        if is_ours and not force and _row(connection, "has_data")["has_data"]:
            raise Conflict(
                "This database holds data. Restore into another one, or say --force to drop all of it first."
            )
        try:
            with connection.transaction():
                connection.execute(SQL["set_limits"])
                if is_ours:
                    _drop(connection)
                names = _Restore(connection, archive, ours_only).run()
                record_sync(connection, "database.restore", source.name, {"force": force})
                return names
        except psycopg.Error as error:
            reason = error.diag.message_primary or " ".join(str(error).split())
            raise ChironError(f"Nothing was restored: {reason.rstrip('.')}.") from None


def _refuse_connected_clients(connection: Connection) -> None:
    deadline = time.monotonic() + DISCONNECT_GRACE_S
    while (rows := connection.execute(SQL["connected_clients"]).fetchall()) and time.monotonic() < deadline:
        time.sleep(0.1)
    if rows:
        clients = ", ".join(f"{row['connections']} x {row['name']}" for row in rows)
        raise Conflict(
            f"Programs are connected to this database ({clients}). Stop them first: `chiron down` stops the local stack."
        )


def _drop(connection: Connection) -> None:
    vector_tables = [str(row["table_name"]) for row in connection.execute(SQL["vector_tables"])]
    connection.execute(SQL["drop"].format(tables=_identifiers([*vector_tables, *migrate.tables()])))
    connection.execute(SQL["drop_functions"].format(functions=_identifiers(migrate.functions())))


@dataclass(slots=True)
class _Restore:
    connection: Connection
    archive: Archive
    ours_only: bool
    rows: dict[str, int] = field(default_factory=dict)  # that were copied, by table
    foreign_columns: list[tuple[str, str]] = field(default_factory=list)  # table and column, until the end
    role: Identifier | None = None

    def run(self) -> list[str]:
        self._take_plain_role()
        strangers = {str(row["name"]) for row in self.connection.execute(SQL["names"])}
        versions = self._copy_versions()
        self._make_schema(versions)
        names = {
            str(row["name"]): bool(row["has_rows"])
            for row in self.connection.execute(SQL["names"])
            if row["name"] not in strangers
        }
        self._refuse_foreign(set(names))
        tables = [name for name, has_rows in names.items() if has_rows]
        for table in self._in_order(tables):
            if table not in self.rows:
                self._copy(table)
        self._compare_with_manifest()
        self._advance_identities(tables)
        self._finish()
        return self._upgrade(versions)

    def _take_plain_role(self) -> None:
        """Where the connection is a superuser's, let a role of this transaction alone copy the rows."""
        if _row(self.connection, "is_superuser")["is_superuser"]:
            self.role = Identifier(f"chiron_restore_{os.getpid()}_{time.time_ns()}")
            schema = Identifier(str(_row(self.connection, "current_schema")["name"]))
            self.connection.execute(SQL["create_role"].format(role=self.role))
            self.connection.execute(SQL["grant_usage"].format(role=self.role, schema=schema))

    def _copy_versions(self) -> set[int]:
        if not any(entry.name == MIGRATIONS for entry in self.archive.tables.values()):
            raise UsageError(
                f"{self.archive.path} is a backup of something else; it holds nothing of Chiron's."
            )
        migrate.create_table(self.connection)
        self._copy(MIGRATIONS)
        versions = {int(row["version"]) for row in self.connection.execute(SQL["versions"])}
        ours = migrate.migrations()
        migrate.refuse_newer(versions, ours, owner=str(self.archive.path))
        if not versions or versions != {migration.version for migration in ours[: len(versions)]}:
            raise self._refusal("says of itself that migrations are missing in the midst of others")
        return versions

    def _make_schema(self, versions: set[int]) -> None:
        for migration in migrate.migrations():
            if migration.version in versions:
                migrate.apply_within(self.connection, migration)
        if _row(self.connection, "is_partitioned", {"parent": "events"})["is_partitioned"]:
            self._make_partitions()
        self._copy(SPACES)
        for space in self.connection.execute(SQL["vector_tables"]).fetchall():
            self._entry(str(space["table_name"]))  # Many spaces without a table would be many tables.
            for statement in vectors.definition(str(space["table_name"]), int(space["dimensions"])):
                self.connection.execute(statement)

    def _make_partitions(self) -> None:
        parents = {"parents": list(partitions.PARENTS)}
        for row in self.connection.execute(SQL["partitions"], parents).fetchall():
            self.connection.execute(SQL["drop_partition"].format(table=Identifier(str(row["name"]))))
        names = [PARTITION.fullmatch(entry.name) for entry in self.archive.tables.values()]
        for name in sorted(match[1] for match in names if match):
            for statement in partitions.definition(partitions.Partition.named(name)):
                self.connection.execute(statement)

    def _refuse_foreign(self, names: set[str]) -> None:
        schema = self._entry(MIGRATIONS).schema
        for entry in self.archive.entries:
            if not self.ours_only and not _is_ours(entry, names, schema):
                raise ChironError(
                    f"Nothing was restored: {self.archive.path} holds the {entry}, which is not Chiron's. "
                    "--ours-only restores the rest."
                )

    def _in_order(self, tables: Iterable[str]) -> Iterable[str]:
        graph: dict[str, set[str]] = {table: set() for table in tables}
        for row in self.connection.execute(SQL["references"]):
            if row["name"] in graph:
                graph[str(row["name"])].add(str(row["referenced"]))
        return [table for table in TopologicalSorter(graph).static_order() if table in graph]

    def _copy(self, table: str) -> None:
        with self.archive.rows(self._entry(table)) as section:
            self._check_columns(table, section.columns)
            names = {"table": Identifier(table), "columns": _identifiers(section.columns)}
            self.connection.execute(SQL["set_encoding"], {"encoding": section.encoding})
            if self.role:
                self.connection.execute(SQL["grant_insert"].format(table=Identifier(table), role=self.role))
                self.connection.execute(SQL["take_role"].format(role=self.role))
            with self.connection.cursor() as cursor:
                with cursor.copy(SQL["copy"].format(**names)) as copy:
                    for piece in section.pieces:
                        copy.write(piece)
                self.rows[table] = cursor.rowcount
            if self.role:
                self.connection.execute(SQL["leave_role"])

    def _check_columns(self, table: str, columns: list[str]) -> None:
        ours = {str(row["name"]) for row in self.connection.execute(SQL["columns"], {"table": table})}
        if columns_absent := sorted(ours - set(columns)):
            raise self._refusal(f"lacks the column {columns_absent[0]} of {table}")
        for column in sorted(set(columns) - ours):
            if not self.ours_only:
                raise ChironError(
                    f"Nothing was restored: {self.archive.path} holds the column {column} of {table}, which is not "
                    "Chiron's. --ours-only restores the rest."
                )
            root = str(_row(self.connection, "root", {"table": table})["name"])
            self._alter("add_column", root, column)
            self.foreign_columns.append((root, column))

    def _compare_with_manifest(self) -> None:
        if (contents := manifest.read(self.archive.path)) is None:
            return  # Backups of earlier versions have none.
        if differences := sorted(contents.rows.keys() ^ self.rows.keys()):
            raise self._refusal(f"is not what its own list of tables says of {differences[0]}")
        for table, count in contents.rows.items():
            if count != self.rows[table]:
                raise self._refusal(
                    f"has {self.rows[table]:,} rows of {table} where its own list says {count:,}"
                )

    def _advance_identities(self, tables: list[str]) -> None:
        for row in self.connection.execute(SQL["identities"], {"tables": tables}).fetchall():
            names = {"table": Identifier(str(row["name"])), "column": Identifier(str(row["column"]))}
            words = {"name": Literal(str(row["name"])), "column_name": Literal(str(row["column"]))}
            self.connection.execute(SQL["advance"].format(**names, **words))

    def _finish(self) -> None:
        for table, column in self.foreign_columns:
            self._alter("drop_column", table, column)
        if self.role:
            self.connection.execute(SQL["drop_owned"].format(role=self.role))
            self.connection.execute(SQL["drop_role"].format(role=self.role))

    def _alter(self, statement: str, table: str, column: str) -> None:
        self.connection.execute(
            SQL[statement].format(table=Identifier(table), column=Identifier(column)), prepare=False
        )

    def _upgrade(self, versions: set[int]) -> list[str]:
        migrations = [migration for migration in migrate.migrations() if migration.version not in versions]
        for migration in migrations:
            migrate.apply_within(self.connection, migration)
            migrate.record(self.connection, migration)
        return [migration.name for migration in migrations]

    def _entry(self, table: str) -> Entry:
        entries = self.archive.tables
        schemas = [entry.schema for entry in entries.values() if entry.name == MIGRATIONS]
        if entry := entries.get(f"{schemas[0]}.{table}"):
            return entry
        raise self._refusal(f"lacks the rows of {table}")

    def _refusal(self, reason: str) -> ChironError:
        return ChironError(f"Nothing was restored: {self.archive.path} {reason}, so it is damaged.")


def _is_ours(entry: Entry, names: set[str], schema: str) -> bool:
    match entry.kind, entry.schema, entry.name:
        case "EXTENSION", "-", name:
            return name in EXTENSIONS
        case "SCHEMA", "-", name:
            return name == schema
        case "COMMENT", "-", name:
            return name.removeprefix("EXTENSION ") in EXTENSIONS or name == f"SCHEMA {schema}"
        case kind, place, name:
            return (
                kind in WORDS_BY_KIND
                and place == schema
                and (name in names or bool(NEAR_INDEX.fullmatch(name)))
            )


def _row(connection: Connection, query: str, args: dict[str, Any] | None = None) -> DictRow:
    row = connection.execute(SQL[query], args).fetchone()
    assert row is not None
    return row


def _identifiers(names: Iterable[str]) -> Composed:
    return sql.SQL(", ").join(map(Identifier, names))
