"""Reads every page of a hostile server as a worker does, and tells what came of it, as lines of JSON."""

import asyncio
import json
import sys
import time

import psutil

from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.errors import ToolError
from chiron_workers.web.download import DownloadLimits
from chiron_workers.web.page import read_page
from support.event_loop_delay import beating

PARSE_LIMITS = Limits(timeout_s=8)  # shorter than by default, so that what takes longer costs the test less
DOWNLOAD_LIMITS = DownloadLimits(bytes_max=5_000_000, timeout_s=2, allow_private=True)


async def read(url: str, n: int, slots: asyncio.Semaphore) -> None:
    async with slots:
        began = time.monotonic()
        try:
            found = await read_page(f"{url}/{n}", download_limits=DOWNLOAD_LIMITS, parse_limits=PARSE_LIMITS)
            outcome = f"TEXT of {len(found.document.text)} characters"
        except ToolError as error:
            outcome = str(error)
    seconds = round(time.monotonic() - began, 2)
    sys.stdout.write(json.dumps({"n": n, "outcome": outcome, "seconds": seconds}) + "\n")


async def measured(url: str, count: int) -> dict[str, float]:
    process, slots = psutil.Process(), asyncio.Semaphore(3)
    before_mb = most_mb = process.memory_info().rss / 1e6
    async with beating() as pulse:
        work = asyncio.gather(*(read(url, n, slots) for n in range(count)))
        while not work.done():
            await asyncio.sleep(0.02)
            most_mb = max(most_mb, process.memory_info().rss / 1e6)
        await work
    return {"growth_mb": round(most_mb - before_mb), "longest_work_s": round(pulse.worked_s, 2)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(measured(sys.argv[1], int(sys.argv[2])))) + "\n")
