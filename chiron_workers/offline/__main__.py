"""`python -m chiron_workers.offline [PORT]`: the offline researcher in the foreground; see `chiron offline-model`."""

import asyncio
import sys

from chiron_workers.errors import UsageError
from chiron_workers.offline.api.serve import run_until_stopped
from chiron_workers.offline.api.server import OfflineServer


def main() -> None:
    """Serve on the port that was given, or on a free one, until Ctrl+C or SIGTERM."""
    port = sys.argv[1] if len(sys.argv) > 1 else "0"
    if not port.isdigit():
        sys.exit("usage: python -m chiron_workers.offline [PORT]")
    try:
        asyncio.run(run_until_stopped(OfflineServer(), port=int(port), announce=_say))
    except UsageError as error:
        sys.exit(str(error))


def _say(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
