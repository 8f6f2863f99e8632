"""Keys that a model's server refuses: the workers wait for it, or have paused their runs."""

from collections.abc import Iterator

import psycopg
from psycopg.rows import dict_row

from chiron_api.local_stack.checks import Check
from chiron_api.text import local_time, one_line
from chiron_workers.db.connections import SteadyThreadConnection
from chiron_workers.db.queries import load
from chiron_workers.settings import Settings

ORDER = 25
SQL = load(__file__)
ADVICE = "Correct ANTHROPIC_API_KEY where the workers run, restart them, then `chiron resume` what is paused."


def checks(settings: Settings) -> list[Check]:
    """A problem for each model whose server refuses the key; nothing where none does, or Postgres does not tell."""
    if not settings.database_url:
        return []
    try:
        with SteadyThreadConnection.connect(
            settings.database_url, autocommit=True, connect_timeout=5, row_factory=dict_row
        ) as connection:
            return list(_refusals(connection))
    except psycopg.Error:
        return []


def _refusals(connection: psycopg.Connection[psycopg.rows.DictRow]) -> Iterator[Check]:
    for row in connection.execute(SQL["refused"]).fetchall():
        since = local_time(row["refused_at"])
        yield Check("key", f"{one_line(row['model'])}, since {since}: {one_line(row['reason'])}", ADVICE)
