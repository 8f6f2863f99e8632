"""Commits of what a tool call has paid for while it runs."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self

import psycopg

from chiron_workers.agent.conversation import despite_cancellation
from chiron_workers.billing.reservations import write_off
from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import through_outage
from chiron_workers.runs.entries import MaxCost
from chiron_workers.runs.leases import Run


@dataclass(frozen=True, slots=True)
class PaidCommits:
    """Commits answers that were paid for, however long that takes.

    A context manager: its end waits for the commits for which the tool did not wait, since its time was over.
    """

    run: Run
    pool: Pool
    _open: set["asyncio.Task[None]"] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._open:
            is_cancelled = kind is not None and issubclass(kind, asyncio.CancelledError)
            await despite_cancellation(self._finish(), is_cancelled=is_cancelled)

    async def commit(self, write: Callable[[], Awaitable[None]], max_cost: MaxCost | None) -> None:
        """Commit an answer even if the tool is cancelled. If Postgres rejects it, its cost is unconfirmed."""
        task = asyncio.create_task(self._commit(write, max_cost))
        self._open.add(task)
        try:
            await asyncio.shield(task)
        finally:
            if task.done():
                self._open.discard(task)

    async def _commit(self, write: Callable[[], Awaitable[None]], max_cost: MaxCost | None) -> None:
        try:
            await write()
        except psycopg.Error:
            if max_cost is not None:
                await through_outage(lambda: write_off(self.pool, self.run, max_cost))
            raise

    async def _finish(self) -> None:
        outcomes = await asyncio.gather(*self._open, return_exceptions=True)
        for error in outcomes:
            if error is not None:
                raise error
