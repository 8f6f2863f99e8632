"""How an event loop beat while something went on: what it had to do itself, and how long it stood still all the same."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

BEAT_S = 0.01


@dataclass
class Pulse:
    """`worked_s` tells what held the loop up for others; `still_s` depends on the machine too, which may be busy."""

    worked_s: float = 0.0  # processor time of the loop's thread between two beats, at most
    still_s: float = 0.0  # between two beats, at most


@asynccontextmanager
async def beating() -> AsyncIterator[Pulse]:
    """The pulse of the running loop, from now to the end of the block."""
    pulse = Pulse()
    task = asyncio.create_task(_beat(pulse))
    await asyncio.sleep(0)
    try:
        yield pulse
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _beat(pulse: Pulse) -> None:
    while True:
        began, used = time.monotonic(), time.thread_time()
        try:
            await asyncio.sleep(BEAT_S)
        finally:
            pulse.still_s = max(pulse.still_s, time.monotonic() - began)
            pulse.worked_s = max(pulse.worked_s, time.thread_time() - used)
