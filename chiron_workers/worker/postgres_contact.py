import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from psycopg import Connection
from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.runs.rescue import Server

log = structlog.get_logger()

SQL = load(__file__)
# How far the server's clock may go ahead of ours between two answers, since one of them may be slow.
JUMP_S = 2.0


@dataclass(frozen=True, slots=True)
class _Period:
    server: Server  # as it last answered
    began: float
    last_answer: float

    def clock_jump_s(self, server_now: datetime, now: float) -> float:
        """How much further than ours the server's clock went since the last answer."""
        return (server_now - self.server.now).total_seconds() - (now - self.last_answer)


class PostgresContact:
    """For how long one Postgres has answered this process without a break, as its renewal thread sees it.

    While Postgres answers nobody, no lease can be renewed, and leases that run out then say nothing of their holders.
    Only a process that has itself been answered for a whole lease knows that a holder could have renewed it, too.
    A clock of the server that jumps ahead ends all leases at once, and so is a break as well.

    Args:
        lease_for: How long a lease lasts; between two answers half of it is a break, whoever stood still.
    """

    def __init__(self, *, lease_for: timedelta, clock: Callable[[], float] = time.monotonic) -> None:
        self._lease_for = lease_for
        self._silence_max_s = lease_for.total_seconds() / 2
        self._clock = clock
        self._period: _Period | None = None  # replaced as a whole, since two threads read it

    def check(self, connection: Connection[DictRow]) -> None:
        """Have Postgres answer, and count from here on if it is another one, a standby, or long in answering."""
        row = connection.execute(SQL["server"]).fetchone()
        assert row is not None
        server = Server(row["started_at"], row["now"])
        now, period = self._clock(), self._period
        jump_s = period.clock_jump_s(server.now, now) if period and self._is_same(period, server) else 0.0
        if abs(jump_s) > JUMP_S:
            log.warning("postgres.clock_jumped", seconds=round(jump_s, 1))
        if jump_s < -JUMP_S:
            connection.execute(SQL["shorten_leases"], {"lease_for": self._lease_for})
        if row["is_standby"]:
            self._period = None
        elif (
            period and self._is_same(period, server) and not self._is_silent(period, now) and jump_s <= JUMP_S
        ):
            self._period = _Period(server, period.began, now)
        else:
            self._period = _Period(server, now, now)

    def lose(self) -> None:
        """Note that the connection is lost."""
        self._period = None

    def has_lasted(self, seconds: float, server: Server) -> bool:
        """Whether this very server has answered without a break for so long, and does so now."""
        now, period = self._clock(), self._period
        return (
            period is not None
            and self._is_same(period, server)
            and not self._is_silent(period, now)
            and period.clock_jump_s(server.now, now) <= JUMP_S
            and now - period.began >= seconds
        )

    @property
    def silence_s(self) -> float:
        """For how long Postgres has kept a connection and not answered; 0 where there is no connection."""
        period = self._period
        return self._clock() - period.last_answer if period else 0.0

    @staticmethod
    def _is_same(period: _Period, server: Server) -> bool:
        return period.server.started_at == server.started_at

    def _is_silent(self, period: _Period, now: float) -> bool:
        return now - period.last_answer > self._silence_max_s
