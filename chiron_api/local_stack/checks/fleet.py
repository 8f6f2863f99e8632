"""What the health line says: workers that give no sign, how long runs wait, and money today."""

from chiron_api.local_stack.checks import Check, rows_in_postgres
from chiron_workers.settings import Settings
from chiron_workers.worker.fleet import SQL, fleet_args, fleet_from

ORDER = 31
ADVICE = "`chiron status` shows the processes. `chiron up`, or `chiron worker`, starts others, which take the runs over."


def checks(settings: Settings) -> list[Check]:
    """The health line as Postgres knows it; nothing where it does not tell. Redis has a check of its own."""
    return [
        Check("fleet", fleet.line, ADVICE if fleet.problems else "")
        for fleet in (
            fleet_from(row, redis="")
            for row in rows_in_postgres(settings, SQL["fleet"], fleet_args(settings))
        )
    ]
