"""`python -P -m chiron_workers.worker.health`: whether all workers of this container answer, for its health check."""

import socket
import sys

from chiron_workers.celery import app
from chiron_workers.settings import settings
from chiron_workers.settings.cores import worker_count

TIMEOUT_S = 10.0


def answering() -> int:
    """How many workers of this host answer in time."""
    expected = worker_count(settings())
    replies = app.control.ping(
        timeout=TIMEOUT_S, limit=expected, pattern=f"*@{socket.gethostname()}", matcher="glob"
    )
    return len(replies)


if __name__ == "__main__":
    sys.exit(0 if answering() >= worker_count(settings()) else 1)
