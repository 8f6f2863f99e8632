import re
from functools import lru_cache
from pathlib import Path

from psycopg import sql


def load(module_file: str, *shared_files: Path) -> dict[str, sql.SQL]:
    """The named queries of the .sql file beside a module: a line `-- name`, its reasons, then the statement.

    `{{name}}` stands for the text of an earlier query of the file, or of the shared files, without its comments, so that what
    several statements share is written once.

    Args:
        module_file: The module's own `__file__`; `facts.py` reads `facts.sql`.
        shared_files: SQL files of other modules whose queries may be included.

    Raises:
        KeyError: A statement includes a query that does not come before it.
    """
    text = "\n".join(file.read_text() for file in (*shared_files, Path(module_file).with_suffix(".sql")))
    parts = re.split(r"^-- ([a-z_]+)\n", text, flags=re.MULTILINE)[1:]
    statements: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        statements[name] = re.sub(r"{{(\w+)}}", lambda match: _fragment(statements[match[1]]), body.strip())
    return {name: sql.SQL(statement) for name, statement in statements.items()}


def with_table(query: sql.SQL, table: sql.Identifier) -> sql.SQL:
    """A query with a table in place of `{table}`; the text is composed once for each table."""
    return _with_table(query._obj, table.as_string())


@lru_cache(maxsize=256)
def _with_table(query: str, table: str) -> sql.SQL:
    return sql.SQL(sql.SQL(query).format(table=sql.SQL(table)).as_string())


def _fragment(statement: str) -> str:
    return re.sub(r"^--.*\n", "", statement, flags=re.MULTILINE).rstrip(";")
