"""The client for asyncio."""

from chiron_api.client.concurrent import AsyncShell
from chiron_api.client.methods import Methods


class AsyncChiron(Methods, AsyncShell):
    """Chiron over HTTP. Use it as `async with AsyncChiron() as chiron`, or close it.

    Args:
        base_url: Where the API is; without it that of CHIRON_API_URL, else the one of this machine.
        key: Without it that of CHIRON_API_KEY, else for this machine the one that CHIRON_HOME keeps.
        timeout_s: How long an answer may take.
        patience_s: How long a server that has answered before is waited for when it is away.

    Every method raises a ChironError: Refused, NotFound, RateLimited, Unavailable or Unreadable.
    """
