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
JUMP_S = 2.0


@dataclass(frozen=True, slots=True)
class _Period:
    server: Server  # as it last answered
    began: float
    last_question: float
    last_answer: float

    def clock_jump_s(self, server_now: datetime, *, asked_at: float, now: float) -> float:
        """By how much the server's clock went surely further than ours since the last answer, or less far (below 0).

        The server read its clock at some moment between question and answer, so that a slow answer is no jump.
        """
        server_s = (server_now - self.server.now).total_seconds()
        return max(0.0, server_s - (now - self.last_question)) + min(
            0.0, server_s - (asked_at - self.last_answer)
        )


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

    def check(self, connection: Connection[DictRow]) -> datetime:
        """Have Postgres answer, and count from here on if it is another one, a standby, or long in answering.

        Returns:
            When the server that answers was started.
        """
        asked_at = self._clock()
        row = connection.execute(SQL["server"]).fetchone()
        assert row is not None
        server = Server(row["started_at"], row["now"])
        now, period = self._clock(), self._period
        is_same = period is not None and self._is_same(period, server)
        jump_s = period.clock_jump_s(server.now, asked_at=asked_at, now=now) if period and is_same else 0.0
        if abs(jump_s) > JUMP_S:
            log.warning("postgres.clock_jumped", seconds=round(jump_s, 1))
        if jump_s < -JUMP_S:
            connection.execute(SQL["shorten_leases"], {"lease_for": self._lease_for})
        if row["is_standby"]:
            self._period = None
        elif period and is_same and not self._is_silent(period, now) and jump_s <= JUMP_S:
            self._period = _Period(server, period.began, asked_at, now)
        else:
            self._period = _Period(server, now, asked_at, now)
        return server.started_at

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
            and period.clock_jump_s(server.now, asked_at=now, now=now) <= JUMP_S
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
