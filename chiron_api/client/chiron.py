"""The client for programs without an event loop."""

from chiron_api.client.blocking import BlockingShell
from chiron_api.client.methods import Methods


class Chiron(Methods, BlockingShell):
    """Chiron over HTTP. Use it as `with Chiron() as chiron`, or close it.

    Args:
        base_url: Where the API is; without it that of CHIRON_API_URL, else the one of this machine.
        key: Without it that of CHIRON_API_KEY, else for this machine the one that CHIRON_HOME keeps.
        timeout_s: How long an answer may take.
        patience_s: How long a server that has answered before is waited for when it is away.

    Every method raises a ChironError: Refused, NotFound, RateLimited, Unavailable or Unreadable.
    """
