"""The health of an installation."""

from chiron_api.answers.basics import Answer, Usd


class Fleet(Answer):
    """The health of an installation. `line` says all of it, problems first; `problems` is empty while research can run.

    `workers` gave a sign within a lease's time, `silent_workers` none since, the longest for `silent_s` seconds. `waiting` counts
    runs that may start and have not (1,001: more than a thousand), the first for `oldest_wait_s`. `redis` says why Redis does not
    do its work, and is empty where it does. `spent_today_usd` is what all runs have spent on this day (UTC), `reserved_usd` what
    calls in flight may add; both are null for a key that sees only its owner's batches.
    """

    line: str
    problems: list[str]
    has_postgres: bool
    redis: str
    workers: int
    silent_workers: int
    silent_s: float
    running: int
    waiting: int
    oldest_wait_s: float
    spent_today_usd: Usd | None
    reserved_usd: Usd | None
