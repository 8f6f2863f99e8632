import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg
from psycopg_pool import PoolTimeout

from chiron_workers.db.connect import is_outage

OUTAGE_S = 120.0  # how long a write waits for Postgres to come back before the run is given up
Value = TypeVar("Value")


async def through_outage(attempt: Callable[[], Awaitable[Value]]) -> Value:
    """Repeat a write until Postgres is back, for two minutes at most; the write must be safe to repeat."""
    give_up_at = time.monotonic() + OUTAGE_S
    pause_s = 0.1
    while True:
        try:
            return await attempt()
        except (psycopg.Error, PoolTimeout) as error:
            if not is_outage(error) or time.monotonic() > give_up_at:
                raise
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, 2.0)
