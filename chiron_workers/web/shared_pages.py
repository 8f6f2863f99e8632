from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from psycopg.rows import DictRow

from chiron_workers.db.pipelines import Statement, send
from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Snapshot, Sources, to_snapshot

SQL = load(__file__)


class SharedPages:
    """The pages that the runs of a batch share, so that each is fetched once.

    Each method is a transaction of its own: other runs see a page at once, even if the call that fetched it fails.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        caller = session.caller
        self._caller_args = {"batch_id": caller.batch_id, "run_id": caller.run_id, "call_id": caller.call_id}

    async def read_or_claim(self, url: str, *, claim_for: timedelta) -> tuple[Snapshot | None, bool]:
        """The shared page, if it is there, and whether its fetch is claimed now for this call: False if another fetches it.

        Raises:
            ToolError: A fetch has failed, with the message that is recorded.
        """
        args = self._caller_args | {"url": url, "claim_for": claim_for}
        async with self._session.pool.connection() as connection:
            rows, claims = await send(
                connection, [Statement(SQL["read"], args), Statement(SQL["claim"], args)]
            )
        return _snapshot_of(rows), bool(claims)

    async def read(self, url: str) -> Snapshot | None:
        """The shared page, if it is there. Raises ToolError with the message of a recorded failure."""
        return _snapshot_of(await self._rows("read", url=url))

    async def fill(self, url: str, pages: Sequence[Page], *, good_for: timedelta) -> Snapshot:
        """Save and share a fetched page, `pages[0]` under the address where redirects ended."""
        args = {"url": url, "hash": pages[0].text_hash(), "found_url": pages[0].url, "good_for": good_for}
        async with Session(self._session.pool, self._session.caller) as session:
            fill = Statement(SQL["fill"], self._caller_args | args)
            return await Sources(session).save_and_read(pages, fill)

    async def fail(self, url: str, error: str, *, good_for: timedelta) -> None:
        """Record a failure, which the other runs get for `good_for` instead of trying again."""
        await self._rows("fail", url=url, error=error, good_for=good_for)

    async def release(self, url: str) -> None:
        """Give up the claim, so that another call may fetch the page."""
        await self._rows("release", url=url)

    async def _rows(self, name: str, **args: Any) -> list[DictRow]:
        async with self._session.pool.connection() as connection:
            cursor = await connection.execute(SQL[name], self._caller_args | args)
            return await cursor.fetchall() if cursor.description else []


def _snapshot_of(rows: list[DictRow]) -> Snapshot | None:
    if not rows:
        return None
    error = rows[0].pop("error")
    if error is not None:
        raise ToolError(error)
    return to_snapshot(rows[0])
