"""What a worker does besides executing runs: one coroutine a duty, each in a module of its own."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.db.connect import is_outage
from chiron_workers.errors import ServiceUnavailable

log = structlog.get_logger()


class Duties:
    """Tasks that go on until the worker stops."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, *duties: Coroutine[Any, Any, None], on_failure: Callable[[BaseException], None]) -> None:
        """Start duties; `on_failure` gets the exception of one that breaks."""

        def report(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (error := task.exception()) is not None:
                on_failure(error)

        for duty in duties:
            task = asyncio.create_task(duty)
            task.add_done_callback(report)
            self._tasks.append(task)

    async def stop(self) -> None:
        """Cancel all duties and wait for their ends."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.contextmanager
def outages_logged(duty: str) -> Iterator[None]:
    """Log an outage of Postgres or of the broker as `<duty>.failed` and go on; any other error is raised."""
    try:
        yield
    except ServiceUnavailable as error:
        log.warning(f"{duty}.failed", error=str(error))
    except (psycopg.Error, PoolTimeout) as error:
        if not is_outage(error):
            raise
        log.warning(f"{duty}.failed", error=str(error).strip())
