from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import zstandard
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError

SQL = load(__file__)
ROBOTS_TTL = timedelta(hours=24)  # RFC 9309, 2.4: at most a day.


class HostBusy(ToolError):
    """The next turn of a host is further away than a call may wait. Nothing was fetched."""


@dataclass(frozen=True, slots=True)
class Robots:
    """A site's robots.txt: its bytes, None if there is none; or the reason why nothing may be fetched."""

    body: bytes | None = None
    refusal: str = ""


class Hosts:
    """Rate limits and robots.txt of hosts, shared by all workers.

    Each call is a transaction of its own: a turn stays taken even if the caller fails.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def take_turn(self, host: str, *, pause: timedelta, patience: timedelta) -> float:
        """Reserve the next request to a host; the seconds until it may be made.

        Args:
            pause: The time between this request and the next one of any worker.
            patience: How long the caller can wait.

        Raises:
            HostBusy: The turn is further away than `patience`; none was reserved.
        """
        args = {"host": host, "pause": pause, "patience": patience}
        if row := await self._row("take_turn", args):
            return float(row["seconds"])
        row = await self._row("wait", args)
        raise HostBusy(
            f"{host} must not be asked again for {row['seconds'] if row else 0:,.0f} s: it wants to be left alone, or "
            "many others wait for it. Read sources elsewhere first."
        )

    async def back_off(self, host: str, duration: timedelta) -> None:
        """Make no request to a host for this long."""
        await self._row("back_off", {"host": host, "duration": duration})

    async def robots(self, origin: str) -> Robots | None:
        """The cached robots.txt of an origin (scheme://host:port); None if it must be downloaded."""
        row = await self._row("robots", {"origin": origin})
        return _robots_from_row(row) if row else None

    async def save_robots(self, origin: str, body: bytes | None) -> Robots:
        """Cache a robots.txt for a day; None caches that there is none."""
        body_zstd = zstandard.compress(body) if body is not None else None
        await self._row("save_robots", {"origin": origin, "body": body_zstd, "good_for": ROBOTS_TTL})
        await self._row("delete_idle", {})
        return Robots(body)

    async def robots_unavailable(self, origin: str, refusal: str, *, good_for: timedelta) -> Robots:
        """Cache that a robots.txt cannot be read; the rules read before stay valid, else the refusal applies."""
        args = {"origin": origin, "refusal": refusal, "good_for": good_for}
        row = await self._row("robots_unavailable", args)
        assert row is not None
        return _robots_from_row(row)

    async def _row(self, name: str, args: dict[str, Any]) -> DictRow | None:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(SQL[name], args)
            return await cursor.fetchone() if cursor.description else None


def _robots_from_row(row: DictRow) -> Robots:
    body = zstandard.decompress(row["body"]) if row["body"] is not None else None
    return Robots(body, row["refusal"] or "")
