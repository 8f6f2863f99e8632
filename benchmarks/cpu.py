"""CPU time of processes to the microsecond where the kernel tells it, and the load of the machine."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

import psutil

Times = Mapping[int, float]  # seconds of CPU by process id


def cpu_of(*roots: psutil.Process) -> Times:
    """CPU seconds of processes and all below them."""
    found: dict[int, float] = {}
    for root in roots:
        for process in (root, *root.children(recursive=True)):
            try:
                found[process.pid] = _seconds(process)
            except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
                continue  # it ended meanwhile
    return found


def spent(before: Times, after: Times) -> float:
    """CPU seconds between two looks; a process that ended between them is left out."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def _seconds(process: psutil.Process) -> float:
    # cpu_times() counts in steps of 10 ms, which is the work of ten turns.
    threads = Path(f"/proc/{process.pid}/task")
    if not threads.exists():
        times = process.cpu_times()
        return float(times.user + times.system)
    return sum(_thread_ns(thread) for thread in threads.iterdir()) / 1e9


def _thread_ns(thread: Path) -> int:
    try:
        return int((thread / "schedstat").read_text().split()[0])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def load_average() -> float:
    """How many processes wanted a core in the last minute."""
    return round(os.getloadavg()[0], 1)


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": psutil.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
    }
