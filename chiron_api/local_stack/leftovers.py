"""Processes of a home that outlived their supervisor, for example when only that was killed."""

import contextlib
import os
import signal

import psutil

from chiron_api.local_stack.home import Home
from chiron_api.local_stack.supervision import HOME_VARIABLE


def leftovers(home: Home) -> list[psutil.Process]:
    """All processes that were started for this home, supervised or not."""
    return [
        process for process in psutil.process_iter() if process.pid != os.getpid() and _is_of(home, process)
    ]


def terminate(processes: list[psutil.Process], *, within_s: float = 10) -> None:
    """Stop these processes, and kill those that do not stop in time."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGINT if process.name() == "postgres" else signal.SIGTERM)
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    kill(alive)


def kill(processes: list[psutil.Process]) -> None:
    """Kill these processes; the services recover from their logs at the next start."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=5)


def _is_of(home: Home, process: psutil.Process) -> bool:
    try:
        return process.environ().get(HOME_VARIABLE) == str(home.folder)
    except (psutil.Error, OSError):
        return False
