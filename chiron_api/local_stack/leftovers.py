"""Processes of a home that outlived their supervisor, for example when only that was killed."""

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
        _send(process, signal.SIGINT if _name(process) == "postgres" else signal.SIGTERM)
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    kill(alive)


def kill(processes: list[psutil.Process]) -> None:
    """Kill these processes; the services recover from their logs at the next start."""
    for process in processes:
        _send(process, signal.SIGKILL)
    psutil.wait_procs(processes, timeout=5)


def _is_of(home: Home, process: psutil.Process) -> bool:
    try:
        return process.environ().get(HOME_VARIABLE) == str(home.folder)
    except (psutil.Error, OSError):
        return False


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
