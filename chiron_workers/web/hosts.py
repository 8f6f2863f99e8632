from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import zstandard
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError

SQL = load(__file__)
ROBOTS_GOOD_FOR = timedelta(hours=24)  # RFC 9309: not longer than a day


class HostBusy(ToolError):
    """A host may be asked again only after longer than a call can wait. Nothing was fetched, and it may work later."""


@dataclass(frozen=True, slots=True)
class Robots:
    """What is known of a site's robots.txt: its bytes, None where there is none; or why nothing may be fetched."""

    body: bytes | None = None
    refusal: str = ""


class Hosts:
    """How hosts are treated by all workers together: when each may be asked, and what its robots.txt says.

    Each call is a transaction of its own, since a moment that was taken is taken whatever becomes of the call.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def take_turn(self, host: str, *, pause: timedelta, patience: timedelta) -> float:
        """Take the next moment at which a host may be asked; how many seconds away it is.

        Args:
            pause: Between this request to the host and the next one, whoever makes it.
            patience: How long the caller can wait.

        Raises:
            HostBusy: It is further away; no moment was taken.
        """
        args = {"host": host, "pause": pause, "patience": patience}
        if row := await self._row("take_turn", args):
            return float(row["seconds"])
        row = await self._row("wait", args)
        raise HostBusy(
            f"{host} must not be asked again for {row['seconds'] if row else 0:,.0f} s: it wants to be left alone, or "
            "many others wait for it. Read sources elsewhere first."
        )

    async def back_off(self, host: str, rest: timedelta) -> None:
        """Ask a host nothing for this long."""
        await self._row("back_off", {"host": host, "rest": rest})

    async def robots(self, origin: str) -> Robots | None:
        """What is known of the robots.txt of an origin (scheme://host:port); None if it must be read."""
        row = await self._row("robots", {"origin": origin})
        return _robots(row) if row else None

    async def save_robots(self, origin: str, body: bytes | None) -> Robots:
        """Keep a robots.txt for a day, or that there is none."""
        kept = zstandard.compress(body) if body is not None else None
        await self._row("save_robots", {"origin": origin, "body": kept, "good_for": ROBOTS_GOOD_FOR})
        await self._row("forget", {})
        return Robots(body)

    async def robots_unavailable(self, origin: str, refusal: str, *, good_for: timedelta) -> Robots:
        """What holds for a while if a robots.txt cannot be read: what it said before, else the refusal."""
        args = {"origin": origin, "refusal": refusal, "good_for": good_for}
        row = await self._row("robots_unavailable", args)
        assert row is not None
        return _robots(row)

    async def _row(self, name: str, args: dict[str, Any]) -> DictRow | None:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(SQL[name], args)
            return await cursor.fetchone() if cursor.description else None


def _robots(row: DictRow) -> Robots:
    body = zstandard.decompress(row["body"]) if row["body"] is not None else None
    return Robots(body, row["refusal"] or "")
