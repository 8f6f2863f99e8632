"""Keys that a model's server refuses: the workers wait for it, or have paused their runs."""

from chiron_api.local_stack.checks import Check, rows_in_postgres
from chiron_api.text import local_time, one_line
from chiron_workers.db.queries import load
from chiron_workers.settings import Settings

ORDER = 25
SQL = load(__file__)
ADVICE = "Correct ANTHROPIC_API_KEY where the workers run, restart them, then `chiron resume` what is paused."


def checks(settings: Settings) -> list[Check]:
    """A problem for each model whose server refuses the key; nothing where none does, or Postgres does not tell."""
    return [
        Check(
            "key",
            f"{one_line(row['model'])}, since {local_time(row['refused_at'])}: {one_line(row['reason'])}",
            ADVICE,
        )
        for row in rows_in_postgres(settings, SQL["refused"])
    ]
