"""What workers fail at besides runs: items that their duties leave alone for a while."""

from chiron_api.local_stack.checks import Check, rows_in_postgres
from chiron_api.text import local_time, one_line
from chiron_workers.duty_failures import SQL
from chiron_workers.settings import Settings

ORDER = 26
SHOWN_MAX = 5
ADVICE = "Mend what the reason names; a worker tries it again by itself."


def checks(settings: Settings) -> list[Check]:
    """A problem for each of the latest failures; nothing where there is none, or Postgres does not tell."""
    return [
        Check(
            "duty",
            f"{row['duty']} {one_line(row['item'])}, {row['failures']} times in a row, last at"
            f" {local_time(row['failed_at'])}: {one_line(row['reason'])}",
            ADVICE,
        )
        for row in rows_in_postgres(settings, SQL["newest"], {"limit": SHOWN_MAX})
    ]
