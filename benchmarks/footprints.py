"""Descriptors, connections and memory of processes over time, and whether they grow."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

MB = 1e6
# Between two floors by chance: a pool that gives a connection back, or takes one more.
ALLOWANCE, ALLOWANCE_SHARE = 3.0, 0.05
FLOOR = 0.25  # the quantile of a third; peaks are what is open for a moment
POINTS_MIN = 6  # two in each third; fewer say nothing
PART_MEASURES = ("descriptors", "Redis connections", "PSS, MB", "RSS, MB")


@dataclass(slots=True)
class Series:
    """One measure over time: seconds since the begin, and values.

    Args:
        is_judged: Whether it must not grow. Memory does, as caches fill, and what a process holds that is killed now and then.
    """

    is_judged: bool
    points: list[tuple[float, float]] = field(default_factory=list)

    def floor(self, third: int) -> float:
        """What is there at least for most of the first (0), the second or the third part of the time."""
        values = [value for _, value in self.points]
        part = values[len(values) * third // 3 : len(values) * (third + 1) // 3]
        return float(np.quantile(part, FLOOR))

    def grows(self) -> bool:
        """Whether what is there for most of the time has become more, by more than chance explains."""
        if len(self.points) < POINTS_MIN or not self.is_judged:
            return False
        first, last = self.floor(0), self.floor(2)
        return last - first > max(ALLOWANCE, ALLOWANCE_SHARE * first)

    def per_hour(self) -> float:
        """The slope of a line through all points."""
        seconds, values = zip(*self.points, strict=True)
        return float(np.polyfit(seconds, values, 1)[0]) * 3_600

    def cells(self) -> list[str]:
        """The row of a table: start, end, peak, slope per hour, verdict."""
        values = [value for _, value in self.points]
        verdict = "" if not self.is_judged else "grows" if self.grows() else "flat"
        return [f"{number:.0f}" for number in (values[0], values[-1], max(values))] + [
            f"{self.per_hour():+.0f}" if len(values) > 1 else "",
            verdict,
        ]


@dataclass(slots=True)
class Footprints:
    """A series for each measure of each part, by "<part>: <measure>"."""

    series: dict[str, Series] = field(default_factory=dict)

    def add(self, name: str, at_s: float, value: float, *, is_judged: bool) -> None:
        """Add a point to a series, which its first one makes."""
        self.series.setdefault(name, Series(is_judged)).points.append((at_s, value))

    def growing(self) -> list[str]:
        """The names of the series that grow and must not."""
        return [name for name, series in self.series.items() if series.grows()]


def measures_of(pid: int, *, redis_port: int) -> dict[str, float]:
    """What a process and all below it hold, by the name of the measure; nothing where it has ended."""
    sums: defaultdict[str, float] = defaultdict(float)
    for process in _family(pid):
        # Sandboxes of documents come and go with each page.
        with suppress(psutil.Error, OSError):
            for name, value in tuple(_measures(process, redis_port)):
                sums[name] += value
    return dict(sums)


def _family(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def _measures(process: psutil.Process, redis_port: int) -> Iterator[tuple[str, float]]:
    connections = process.net_connections("tcp")
    to_redis = sum(bool(each.raddr) and each.raddr.port == redis_port for each in connections)
    values = (process.num_fds(), to_redis, _pss_mb(process.pid), process.memory_info().rss / MB)
    return zip(PART_MEASURES, values, strict=True)


def _pss_mb(pid: int) -> float:
    # What processes share counts by its share, so that the sum over a stack is what the stack takes.
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024 / MB
    return 0.0
