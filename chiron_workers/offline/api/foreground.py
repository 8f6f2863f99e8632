"""Running a server until a person or a supervisor ends it."""

import asyncio
import signal
from collections.abc import Callable

from chiron_workers.offline.api.server import OfflineServer, serve


async def until_stopped(server: OfflineServer, *, port: int, announce: Callable[[str], None]) -> None:
    """Serve on a loopback port, call `announce` with the URL once it answers, and end cleanly on SIGINT or SIGTERM."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with serve(server, port=port) as url:
        announce(url)
        await stopped.wait()
