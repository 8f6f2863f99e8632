"""Charts as numbers for SVG; the templates draw them, so that they are there without a script."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from psycopg.rows import DictRow

from chiron_workers.states import RunState

WIDTH, HEIGHT, MARGIN = 640.0, 160.0, 4.0
BAR_ORDER = (
    RunState.COMPLETED,
    RunState.FAILED,
    RunState.CANCELLED,
    RunState.PAUSED,
    RunState.RUNNING,
    RunState.QUEUED,
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Runs that stand side by side: the share of each state that occurs, with the share before it."""

    n: int
    shares: tuple[tuple[RunState, float, float], ...]


@dataclass(frozen=True, slots=True)
class CostChart:
    """Cost over time: `points` is a polyline; `limit_y` and the band of what is reserved are None where there is none."""

    points: str
    top_usd: float
    spent_usd: float
    limit_y: float | None
    band_y: float
    band_height: float
    since: datetime
    until: datetime
    width: float = WIDTH
    height: float = HEIGHT


def stretches_of(rows: Iterable[DictRow]) -> list[Stretch]:
    """Counts by stretch and state as shares."""
    order = list(RunState)
    return [
        Stretch(n, _shares(sorted(group, key=lambda row: order.index(RunState(row["state"])))))
        for n, group in groupby(rows, key=lambda row: row["stretch"])
    ]


def shares_of(counts: Mapping[str, int]) -> tuple[tuple[RunState, float, float], ...]:
    """Counts by state as shares: first what has ended, so that a bar fills from its beginning."""
    return _shares([{"state": state, "runs": counts[state]} for state in BAR_ORDER if counts.get(state)])


def _shares(rows: list[DictRow]) -> tuple[tuple[RunState, float, float], ...]:
    total = sum(row["runs"] for row in rows)
    shares, before = [], 0.0
    for row in rows:
        share = row["runs"] / total
        shares.append((RunState(row["state"]), before, share))
        before += share
    return tuple(shares)


def cost_chart(
    costs: Mapping[int, float],
    *,
    stretches: int,
    limit: float | None,
    reserved_usd: float,
    since: datetime,
    until: datetime,
) -> CostChart:
    """A chart of sums by stretch of time; a stretch without a sum has that of the one before."""
    spent, points = 0.0, [(0.0, 0.0)]
    for stretch in range(stretches):
        spent = costs.get(stretch, spent)
        points.append(((stretch + 1) / stretches, spent))
    top = max(limit or 0.0, spent + reserved_usd) or 1.0

    def y(amount: float) -> float:
        return round(HEIGHT - MARGIN - amount / top * (HEIGHT - 2 * MARGIN), 1)

    return CostChart(
        " ".join(f"{round(x * WIDTH, 1)},{y(amount)}" for x, amount in points),
        top,
        spent,
        None if limit is None else y(limit),
        y(spent + reserved_usd),
        round(y(spent) - y(spent + reserved_usd), 1),
        since,
        until,
    )
