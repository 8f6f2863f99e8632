"""How many worker processes a machine is given: a process plays its runs in one thread, which fills one core."""

import os
from pathlib import Path

from chiron_workers.settings import Settings

WORKERS_MAX = 16  # without being told: each takes memory and connections to Postgres
CONTROL_GROUP = Path("/sys/fs/cgroup")


def worker_count(settings: Settings) -> int:
    """The worker processes that `chiron up` and a container start: CHIRON_WORKERS, or one for each core."""
    return settings.workers or min(usable_cores(), WORKERS_MAX)


def usable_cores(control_group: Path = CONTROL_GROUP) -> int:
    """The cores that this process may use, by its CPU set and by the quota of its container; at least 1."""
    is_bound = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if is_bound else os.cpu_count() or 1
    return max(1, min(cores, round(_quota(control_group) or cores)))


def _quota(folder: Path) -> float | None:
    """How many cores' time a container may use; None where that is not limited."""
    quota = _numbers(folder / "cpu.max")
    if not quota:  # the first version of control groups
        quota = _numbers(folder / "cpu/cpu.cfs_quota_us") + _numbers(folder / "cpu/cpu.cfs_period_us")
    return quota[0] / quota[1] if len(quota) == 2 and min(quota) > 0 else None


def _numbers(file: Path) -> list[int]:
    try:
        return [int(word) for word in file.read_text().split()]
    except (OSError, ValueError):  # there is no such file, or it says "max"
        return []
