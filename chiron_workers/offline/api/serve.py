"""Running the server: for a block, in a thread, or until a person or a supervisor ends it."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from aiohttp import web
from anyio.from_thread import start_blocking_portal

from chiron_workers.errors import UsageError
from chiron_workers.offline.api.request_log import RequestLog
from chiron_workers.offline.api.server import OfflineServer

_HOST = "127.0.0.1"
_STOP_S = 2.0  # for replies under way when the server stops


@contextlib.asynccontextmanager
async def serve(server: OfflineServer | None = None, *, port: int = 0) -> AsyncIterator[str]:
    """Run a server on a loopback port while the block runs; yields its base URL. Port 0 takes a free one.

    Raises:
        UsageError: The port is taken.
    """
    server = server or OfflineServer()
    with contextlib.closing(RequestLog(server.log)) as request_log:
        runner = web.AppRunner(
            server.app(request_log),
            access_log=None,
            handler_cancellation=True,
            keepalive_timeout=300,
            shutdown_timeout=_STOP_S,
        )
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, _HOST, port, backlog=2_048).start()
            except OSError as error:
                raise UsageError(
                    f"Cannot listen on {_HOST}:{port} ({error.strerror}). Choose another port."
                ) from None
            yield f"http://{_HOST}:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


async def run_until_stopped(server: OfflineServer, *, port: int, announce: Callable[[str], None]) -> None:
    """Serve on a loopback port, call `announce` with the URL once it answers, and end cleanly on SIGINT or SIGTERM."""
    stop_requested = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop_requested.set)
    async with serve(server, port=port) as url:
        announce(url)
        await stop_requested.wait()


class ServerThread(NamedTuple):
    """A server in a thread of its own: where it is, and how to end it."""

    url: str
    stop: Callable[[], None]


def start_in_thread(server: OfflineServer | None = None) -> ServerThread:
    """Run a server on a free loopback port beside the caller's own work, until `stop()` is called."""
    with contextlib.ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal(name="offline-researcher"))
        try:
            url = stack.enter_context(portal.wrap_async_context_manager(serve(server)))
        except UsageError:
            raise UsageError(
                "The offline researcher could not start: no loopback port can be opened."
            ) from None
        return ServerThread(url, stack.pop_all().close)
