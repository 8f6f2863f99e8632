"""A standby that lagged behind and was promoted: the rows of runs are again what they were when it got its last record."""

from dataclasses import dataclass

import psycopg
from psycopg.sql import SQL, Composed, Identifier

# A row that others refer to may be locked by a transaction which holds one of them: it is updated, not replaced.
UPDATED = ("batches", "runs")
REPLACED = (
    "entries",
    "tool_results",
    "side_replies",
    "events",
    "inbox",
    "notes",
    "holds",
    "batch_sums",
    "spending",
)
COPY = SQL("select coalesce(json_agg(t), '[]')::text from {table} t")
UPDATE = SQL(
    "update {table} set ({columns}) ="
    " (select {columns} from json_populate_recordset(null::{table}, %(rows)s) copy where copy.id = {table}.id)"
)
DELETE = SQL("delete from {table}")
INSERT = SQL("insert into {table} select * from json_populate_recordset(null::{table}, %(rows)s)")
COLUMNS = """
select attname from pg_attribute
 where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attname <> 'id'
"""


@dataclass(frozen=True, slots=True)
class LaggingStandby:
    """The rows of one moment."""

    database_url: str
    rows: dict[str, str]

    @classmethod
    def of(cls, database_url: str) -> "LaggingStandby":
        """A standby that gets nothing from now on."""
        with psycopg.connect(database_url, autocommit=True) as connection:
            copies = {
                table: connection.execute(COPY.format(table=Identifier(table))).fetchone()
                for table in (*UPDATED, *REPLACED)
            }
        return cls(database_url, {table: row[0] for table, row in copies.items() if row})

    def promote(self) -> None:
        """Have the database show what the standby has."""
        with psycopg.connect(self.database_url) as connection:
            connection.execute("set session_replication_role = replica")  # no trigger sees it
            for table in UPDATED:
                names = [Identifier(name) for (name,) in connection.execute(COLUMNS, [table])]
                self._run(connection, UPDATE, table, SQL(", ").join(names))
            for table in REPLACED:
                self._run(connection, DELETE, table)
                self._run(connection, INSERT, table)

    def _run(
        self, connection: psycopg.Connection, statement: SQL, table: str, columns: Composed | None = None
    ) -> None:
        query = statement.format(table=Identifier(table), columns=columns or SQL(""))
        connection.execute(query, {"rows": self.rows[table]})
