"""Watches processes from outside while they work: CPU used up to each moment, and the peak of their memory."""

import bisect
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

import psutil
from cpu import cpu_of

EVERY_S = 0.25


class Sampler:
    """Looks at processes, and all below them, four times a second."""

    def __init__(self, watched: Mapping[str, psutil.Process]) -> None:
        self._watched = watched
        self._times: dict[str, list[float]] = {name: [] for name in watched}
        self._cpu_s: dict[str, list[float]] = {name: [] for name in watched}
        self._peak_bytes = dict.fromkeys(watched, 0)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    @property
    def names(self) -> list[str]:
        """Those that are watched."""
        return list(self._watched)

    def cpu_s(self, name: str, start: float, end: float) -> float:
        """CPU seconds between two moments of `time.time()`."""
        return self._at(name, end) - self._at(name, start)

    def peak_mb(self, name: str) -> float:
        """The most memory (RSS, in 10^6 bytes) that was seen."""
        return self._peak_bytes[name] / 1e6

    def _at(self, name: str, moment: float) -> float:
        times, used = self._times[name], self._cpu_s[name]
        n = min(max(bisect.bisect(times, moment), 1), len(times) - 1)
        share = (moment - times[n - 1]) / (times[n] - times[n - 1])
        return used[n - 1] + min(max(share, 0.0), 1.0) * (used[n] - used[n - 1])

    def _run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            for name, process in self._watched.items():
                try:
                    self._look(name, process)
                except psutil.NoSuchProcess:
                    continue

    def _look(self, name: str, process: psutil.Process) -> None:
        self._times[name].append(time.time())
        self._cpu_s[name].append(sum(cpu_of(process).values()))
        self._peak_bytes[name] = max(self._peak_bytes[name], process.memory_info().rss)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()
