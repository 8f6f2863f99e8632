"""`python -P -m chiron_workers.worker.health`: whether all workers of this container answer, for its health check."""

import sys

from chiron_workers.celery import app
from chiron_workers.settings import settings
from chiron_workers.settings.cores import worker_count
from chiron_workers.worker.names import host_name

TIMEOUT_S = 10.0


def is_healthy() -> bool:
    """Whether as many workers of this container answer in time as a container starts."""
    count = worker_count(settings())
    replies = app.control.ping(timeout=TIMEOUT_S, limit=count, pattern=f"*@{host_name()}", matcher="glob")
    return len(replies) >= count


if __name__ == "__main__":
    sys.exit(0 if is_healthy() else 1)
