"""The Celery task of a run, and the start of a worker; `worker/shutdown` reacts to SIGTERM."""

import argparse
import sys
import traceback
from collections.abc import Sequence
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
from chiron_workers.worker.memory import share_arenas, spare_start_up
from chiron_workers.worker.shutdown import drain_on_sigterm

if TYPE_CHECKING:
    from chiron_workers.worker.host import Host


_hosts: "list[Host]" = []


class PlayedInVain(Exception):
    """The run ended in failure; its row and its events say why. Flower shows the task as failed."""


@app.task(name=TASK, bind=True, throws=(PlayedInVain,))
def run(self: Task, **labels: Any) -> None:
    """Execute the run whose id is this task's id; the arguments are only for Flower."""
    outcome = host().play(UUID(self.request.id))
    if outcome is Outcome.NOT_OURS:
        raise Ignore  # Flower goes on showing the worker that has it
    if outcome is Outcome.FAILED:
        raise PlayedInVain(f"{labels.get('topic', '')}: see `chiron show {self.request.id}`")


def host(slots: int = 1) -> "Host":
    """The host of this process; the first call starts it, with so many slots."""
    if not _hosts:
        _hosts.append(_start_host(slots))
    return _hosts[0]


def _start_host(slots: int) -> "Host":
    # Flower imports this module too, and needs neither the agent nor the SDK.
    from chiron_workers.worker.host import Host

    migrations = pending(require_url(settings().database_url))
    if migrations:
        raise ChironError(f"The database lacks {', '.join(migrations)}. Run `chiron migrate` first.")
    process_host = Host(settings(), slots=slots)
    process_host.start()
    return process_host


@signals.setup_logging.connect
def _set_up_logging(**_: Any) -> None:
    log_to_stderr(settings().log_level)


@signals.celeryd_init.connect
def _refuse_other_pools(options: dict[str, Any], **_: Any) -> None:
    # All runs share one event loop, which a fork would copy without its threads and a greenlet would block.
    pool = requested_pool(sys.argv[1:]) or getattr(options.get("pool"), "__module__", "thread")
    if pool not in ("threads", "thread", "celery.concurrency.thread"):
        sys.stderr.write(
            f"chiron: the pool {pool!r} is not supported: one process plays all its runs in one event loop. "
            "Leave -P out, or say -P threads; start more workers for more processes.\n"
        )
        raise SystemExit(2)


def requested_pool(arguments: Sequence[str]) -> str:
    """The pool that a command line names, or nothing: of `-P prefork` Celery tells nobody where another is configured."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-P", "--pool", default="")
    return str(parser.parse_known_args(arguments)[0].pool)


@signals.worker_init.connect
def _start_worker(sender: Any, **_: Any) -> None:
    slots = sender.concurrency if isinstance(sender.concurrency, int) else settings().concurrency
    try:
        require_broker()
        share_arenas()
        host(slots)
        spare_start_up()
    except ChironError as error:
        raise SystemExit(f"chiron: {error}") from None
    except Exception as error:  # noqa: BLE001  # Celery would log it and go on, a worker that plays nothing
        traceback.print_exc()
        raise SystemExit(f"chiron: the worker cannot start: {type(error).__name__}.") from None


drain_on_sigterm(host)
