import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from psycopg import Connection
from psycopg.rows import DictRow

from chiron_workers.db.queries import load

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class _Period:
    server_started_at: datetime
    began: float
    last_answer: float


class PostgresContact:
    """For how long one Postgres has answered this process without a break, as its renewal thread sees it.

    While Postgres answers nobody, no lease can be renewed, and leases that run out then say nothing of their holders.
    Only a process that has itself been answered for a whole lease knows that a holder could have renewed it, too.

    Args:
        silence_max_s: Between two answers; a longer one is a break, whoever stood still.
    """

    def __init__(self, *, silence_max_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._silence_max_s = silence_max_s
        self._clock = clock
        self._period: _Period | None = None  # replaced as a whole, since two threads look at it

    def check(self, connection: Connection[DictRow]) -> None:
        """Have Postgres answer, and count from here on if it is another one, a standby, or long in answering."""
        row = connection.execute(SQL["server"]).fetchone()
        assert row is not None
        now, period = self._clock(), self._period
        if row["is_standby"]:
            self._period = None
        elif period and period.server_started_at == row["started_at"] and not self._is_silent(period, now):
            self._period = _Period(period.server_started_at, period.began, now)
        else:
            self._period = _Period(row["started_at"], now, now)

    def lose(self) -> None:
        """Note that the connection is lost."""
        self._period = None

    def has_lasted(self, seconds: float, server_started_at: datetime) -> bool:
        """Whether this very server has answered without a break for so long, and does so now."""
        now, period = self._clock(), self._period
        return (
            period is not None
            and period.server_started_at == server_started_at
            and not self._is_silent(period, now)
            and now - period.began >= seconds
        )

    def _is_silent(self, period: _Period, now: float) -> bool:
        return now - period.last_answer > self._silence_max_s
