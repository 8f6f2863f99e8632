import re
from pathlib import Path

from psycopg import sql


def load(module_file: str) -> dict[str, sql.SQL]:
    """The named queries of the .sql file beside a module: a line `-- name`, its reasons, then the statement.

    Args:
        module_file: The module's own `__file__`; `facts.py` reads `facts.sql`.
    """
    text = Path(module_file).with_suffix(".sql").read_text()
    parts = re.split(r"^-- ([a-z_]+)\n", text, flags=re.MULTILINE)[1:]
    return {name: sql.SQL(body.strip()) for name, body in zip(parts[::2], parts[1::2], strict=True)}
