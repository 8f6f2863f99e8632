"""What workers fail at besides runs: items that their duties leave alone for a while."""

import psycopg
from psycopg.rows import dict_row

from chiron_api.local_stack.checks import Check
from chiron_api.text import local_time, one_line
from chiron_workers.db.connections import SteadyThreadConnection
from chiron_workers.duty_failures import SQL
from chiron_workers.settings import Settings

ORDER = 26
SHOWN_MAX = 5
ADVICE = "Mend what the reason names; a worker tries it again by itself."


def checks(settings: Settings) -> list[Check]:
    """A problem for each of the latest failures; nothing where there is none, or Postgres does not tell."""
    if not settings.database_url:
        return []
    try:
        with SteadyThreadConnection.connect(
            settings.database_url, autocommit=True, connect_timeout=5, row_factory=dict_row
        ) as connection:
            rows = connection.execute(SQL["newest"], {"limit": SHOWN_MAX}).fetchall()
    except psycopg.Error:
        return []
    return [
        Check(
            "duty",
            f"{row['duty']} {one_line(row['item'])}, {row['failures']} times in a row, last at"
            f" {local_time(row['failed_at'])}: {one_line(row['reason'])}",
            ADVICE,
        )
        for row in rows
    ]
