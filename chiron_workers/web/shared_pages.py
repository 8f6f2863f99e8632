from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Snapshot, Sources, to_snapshot

SQL = load(__file__)


class SharedPages:
    """The pages that the runs of a batch share, so that each is fetched once however many ask for it.

    Each call is a transaction of its own: what was fetched is there for the others at once, whatever becomes of the
    call that fetched it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        caller = session.caller
        self._who = {"batch_id": caller.batch_id, "run_id": caller.run_id, "call_id": caller.call_id}

    async def claim(self, url: str, *, claim_for: timedelta) -> bool:
        """Whether this call is to fetch the page; else it is there, or somebody fetches it."""
        return bool(await self._rows("claim", url=url, claim_for=claim_for))

    async def read(self, url: str) -> Snapshot | None:
        """The page, if it is there. Raises ToolError with the words of a failure that is remembered."""
        rows = await self._rows("read", url=url)
        if not rows:
            return None
        error = rows[0].pop("error")
        if error is not None:
            raise ToolError(error)
        return to_snapshot(rows[0])

    async def fill(self, url: str, pages: Sequence[Page], *, good_for: timedelta) -> Snapshot:
        """Keep what was fetched, its last address first, and share it; as it is kept."""
        async with Session(self._session.pool, self._session.caller) as own:
            sources = Sources(own)
            found = (await sources.save_all(pages))[0], pages[0].url
            args = {"url": url, "hash": found[0], "found_url": found[1], "good_for": good_for}
            await own.write(SQL["fill"], self._who | args)
            kept = await sources.latest(found[1])
        assert kept is not None  # it was written just now
        return kept

    async def fail(self, url: str, error: str, *, good_for: timedelta) -> None:
        """Remember for a while that the page cannot be fetched, and why."""
        await self._rows("fail", url=url, error=error, good_for=good_for)

    async def release(self, url: str) -> None:
        """Let somebody else fetch the page."""
        await self._rows("release", url=url)

    async def _rows(self, name: str, **args: Any) -> list[DictRow]:
        async with self._session.pool.connection() as connection:
            cursor = await connection.execute(SQL[name], self._who | args)
            return await cursor.fetchall() if cursor.description else []
