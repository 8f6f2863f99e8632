"""What Celery runs: the task of a run, and the worker's life around it."""

import os
import traceback
from typing import TYPE_CHECKING, Any
from uuid import UUID

from celery import Task, signals
from celery.exceptions import Ignore

from chiron_workers.celery import TASK, app, require_broker
from chiron_workers.db.connect import require_url
from chiron_workers.db.migrate import pending
from chiron_workers.errors import ChironError
from chiron_workers.settings import settings
from chiron_workers.states import Outcome
from chiron_workers.telemetry.logs import log_to_stderr

if TYPE_CHECKING:
    from chiron_workers.worker.host import Host


_hosts: "dict[int, Host]" = {}


class PlayedInVain(Exception):
    """The run ended in failure; its row and its events say why. Flower shows the task as failed."""


@app.task(name=TASK, bind=True, throws=(PlayedInVain,))
def run(self: Task, **shown: Any) -> None:
    """Play the run whose id is this task's id; the arguments are only for Flower."""
    outcome = host().play(UUID(self.request.id))
    if outcome is Outcome.NOT_OURS:
        raise Ignore  # Flower goes on showing the worker that has it
    if outcome is Outcome.FAILED:
        raise PlayedInVain(f"{shown.get('topic', '')}: see `chiron show {self.request.id}`")


def host(slots: int = 1) -> "Host":
    """The host of this process, started when it is first wanted; `slots` counts only then."""
    # A forked pool process needs a loop and connections of its own.
    if os.getpid() not in _hosts:
        _hosts[os.getpid()] = _started(slots)
    return _hosts[os.getpid()]


def _started(slots: int) -> "Host":
    # Flower imports this module too, and needs neither the agent nor the SDK.
    from chiron_workers.worker.host import Host

    missing = pending(require_url(settings().database_url))
    if missing:
        raise ChironError(f"The database lacks {', '.join(missing)}. Run `chiron migrate` first.")
    started = Host(settings(), slots=slots)
    started.start()
    return started


@signals.setup_logging.connect
def _set_up_logging(**_: Any) -> None:
    log_to_stderr(settings().log_level)


@signals.worker_init.connect
def _start(sender: Any, **_: Any) -> None:
    slots = sender.concurrency if isinstance(sender.concurrency, int) else settings().concurrency
    try:
        require_broker()
        host(slots)
    except ChironError as error:
        raise SystemExit(f"chiron: {error}") from None
    except Exception as error:  # noqa: BLE001  # Celery would log it and go on, a worker that plays nothing
        traceback.print_exc()
        raise SystemExit(f"chiron: the worker cannot start: {type(error).__name__}.") from None


@signals.worker_shutting_down.connect
def _drain(**_: Any) -> None:
    host().drain()


@signals.worker_shutdown.connect
def _stop(**_: Any) -> None:
    host().stop()
