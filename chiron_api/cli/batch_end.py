"""Waiting for the end of a batch."""

import asyncio
from uuid import UUID

from chiron_workers.batches.summaries import summary
from chiron_workers.db.connect import Pool
from chiron_workers.states import RunState

POLL_S = 0.5


async def end_of(pool: Pool, batch_id: UUID) -> RunState:
    """How a batch ends, or that it is paused."""
    while True:  # ends: a run ends, or somebody stops waiting
        state = (await summary(pool, batch_id)).state
        if state.is_final or state is RunState.PAUSED:
            return state
        await asyncio.sleep(POLL_S)
