"""Cancelling tasks for certain: Python 3.11 loses a cancel that comes as what `asyncio.wait_for` waits for is ready."""

import asyncio
from collections.abc import Collection
from typing import Any

AGAIN_S = 5.0  # between two cancels of a task; psycopg takes so long at most to cancel a query


async def cancel_until_done(tasks: Collection["asyncio.Task[Any]"]) -> None:
    """Cancel tasks, again and again until all of them have ended; what they return or raise stays theirs."""
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=AGAIN_S)
