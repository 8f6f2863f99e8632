"""What a worker does on SIGTERM: Celery takes the signal and stops consuming, the runs drain, then everything closes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from celery.platforms import EX_FAILURE
from celery.signals import worker_shutdown, worker_shutting_down

if TYPE_CHECKING:
    from chiron_workers.worker.host import Host


def drain_on_sigterm(host: Callable[[], "Host"]) -> None:
    """Drain the host when Celery gets SIGTERM (or SIGINT), and close it once Celery's tasks have returned."""

    def drain(**_: Any) -> None:
        host().drain()

    def stop(sender: Any, **_: Any) -> None:
        if not host().stop():
            # A supervisor must see that nobody asked for this end.
            sender.exitcode = EX_FAILURE

    worker_shutting_down.connect(drain, weak=False)
    worker_shutdown.connect(stop, weak=False)
