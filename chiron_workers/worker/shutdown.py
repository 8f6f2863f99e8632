"""What a worker does on SIGTERM: Celery takes the signal and stops consuming, the runs drain, then everything closes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from celery.signals import worker_shutdown, worker_shutting_down

if TYPE_CHECKING:
    from chiron_workers.worker.host import Host


def drain_on_sigterm(host: Callable[[], "Host"]) -> None:
    """Drain the host when Celery gets SIGTERM (or SIGINT), and close it once Celery's tasks have returned."""

    def drain(**_: Any) -> None:
        host().drain()

    def stop(**_: Any) -> None:
        host().stop()

    worker_shutting_down.connect(drain, weak=False)
    worker_shutdown.connect(stop, weak=False)
