"""The health line: silent workers, the age of the queue, and money today."""

from chiron_api.local_stack.checks import Check, rows_in_postgres
from chiron_workers.settings import Settings
from chiron_workers.worker.fleet import SQL, fleet_args, fleet_from

ORDER = 31
ADVICE = "`chiron status` shows the processes. `chiron up`, or `chiron worker`, starts others, which take the runs over."


def checks(settings: Settings) -> list[Check]:
    """The health line from Postgres; none while it is away. Redis has another check."""
    return [
        Check("fleet", fleet.line, ADVICE if fleet.problems else "")
        for fleet in (
            fleet_from(row, redis="")
            for row in rows_in_postgres(settings, SQL["fleet"], fleet_args(settings))
        )
    ]
