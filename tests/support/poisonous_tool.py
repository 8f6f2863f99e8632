"""A user's tool that kills the worker which calls it, and a supervisor that starts another."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

from chiron_workers.settings import Settings
from support.worker_processes import running, wait_until

KILLED = -signal.SIGKILL
TOOL = """
import os
import signal

from chiron_workers.store import Store
from chiron_workers.toolkit import tool

@tool
async def swallow(store: Store) -> str:
    '''Take so much memory that the kernel ends the process.'''
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"
"""


def write_tool(folder: Path) -> str:
    """Write the tool `swallow`; the value of CHIRON_TOOLS."""
    (tools := folder / "poison").mkdir()
    (tools / "swallow.py").write_text(TOOL)
    return str(tools)


async def supervise(settings: Settings, is_over: Callable[[], object], *arguments: str, **env: str) -> int:
    """Have a worker, and another once it was killed, until something is over; how many were killed."""
    kills = 0
    while True:
        with running(settings, *arguments, name=f"w{kills}", **env) as worker:
            await asyncio.to_thread(
                wait_until,
                lambda worker=worker: worker.process.poll() is not None or is_over(),
                what="the end",
            )
            code = worker.process.poll()
        if code is None:
            return kills
        assert code == KILLED, worker.log.read_text()[-2_000:]
        kills += 1
