"""Charts as numbers for SVG; the templates draw them, so that they are there without a script."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from math import ceil

from psycopg.rows import DictRow

from chiron_api.answers.costs import DayCost
from chiron_api.reports.charts import axis_ticks, number_text
from chiron_workers.states import RunState

WIDTH, HEIGHT = 640.0, 224.0
X_MIN, X_MAX, Y_MIN, Y_MAX = 68.0, 616.0, 32.0, 172.0  # of the plot; outside of it are labels
TICKS_MAX = 6
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
STEPS = (
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800)),
    *(n * HOUR for n in (1, 2, 3, 6, 12)),
    *(n * DAY for n in (1, 2, 7, 14, 30, 90, 365)),
)
BAR_SHARE = 0.72  # of a bar's place; the rest is the gap to the next one
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
class Tick:
    """A place on an axis with its label."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """The frame of a chart: its axes with their labels. Values are drawn from `x_min` to `x_max` and `y_min` to `y_max`."""

    y_title: str
    x_title: str
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    width: float = WIDTH
    height: float = HEIGHT
    x_min: float = X_MIN
    x_max: float = X_MAX
    y_min: float = Y_MIN
    y_max: float = Y_MAX


@dataclass(frozen=True, slots=True)
class CostChart:
    """Cost over time: `points` is a polyline; `limit_y` is None without a budget, and the band may be flat."""

    plot: Plot
    points: str
    spent_usd: float
    limit_y: float | None
    band_y: float
    band_height: float
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Bar:
    """The cost of a day as a bar, with its unconfirmed part above it."""

    x: float
    width: float
    y: float
    height: float
    unconfirmed_y: float
    unconfirmed_height: float
    cost: DayCost


@dataclass(frozen=True, slots=True)
class DayChart:
    """Cost by day."""

    plot: Plot
    bars: tuple[Bar, ...]
    has_unconfirmed: bool


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
    scale = _Scale([limit or 0.0, spent + reserved_usd])
    zone = since.astimezone().tzname() or "local time"
    return CostChart(
        Plot("Spent in all, USD", f"Time, {zone}", scale.ticks, time_ticks(since, until)),
        " ".join(f"{_x(share)},{scale.y(amount)}" for share, amount in points),
        spent,
        None if limit is None else scale.y(limit),
        scale.y(spent + reserved_usd),
        round(scale.y(spent) - scale.y(spent + reserved_usd), 1),
        since,
        until,
    )


def day_chart(days: Sequence[DayCost]) -> DayChart:
    """A chart with a bar for each day."""
    amounts = [(float(day.spent_usd_min), float(day.unconfirmed_usd or 0)) for day in days]
    scale = _Scale([sum(pair) for pair in amounts])
    place = (X_MAX - X_MIN) / max(len(days), 1)
    width = round(place * BAR_SHARE, 2)
    bars = []
    for n, (day, (spent, unconfirmed_usd)) in enumerate(zip(days, amounts, strict=True)):
        y, top = scale.y(spent), scale.y(spent + unconfirmed_usd)
        x = round(X_MIN + (n + (1 - BAR_SHARE) / 2) * place, 2)
        bars.append(Bar(x, width, y, round(Y_MAX - y, 1), top, round(y - top, 1), day))
    stride = max(1, ceil(len(days) / TICKS_MAX))
    labels = tuple(
        Tick(round(X_MIN + (n + 0.5) * place, 1), f"{days[n].day:%d %b}") for n in range(0, len(days), stride)
    )
    plot = Plot("USD a day", "Day, UTC", scale.ticks, labels)
    return DayChart(plot, tuple(bars), any(unconfirmed_usd for _, unconfirmed_usd in amounts))


def time_ticks(since: datetime, until: datetime) -> tuple[Tick, ...]:
    """Labels of an axis of time at round times, by the clock of this machine."""
    begin, span = since.astimezone(), max(until - since, SECOND)
    step = time_step(span, ticks_max=TICKS_MAX)
    midnight = begin.replace(hour=0, minute=0, second=0, microsecond=0)
    form = (
        "%d %b"
        if step >= DAY
        else "%d %b %H:%M"
        if span > DAY
        else "%H:%M"
        if step >= 60 * SECOND
        else "%H:%M:%S"
    )
    first = ceil((begin - midnight) / step)
    times = (midnight + n * step for n in range(first, first + TICKS_MAX + 1))
    return tuple(Tick(_x((at - begin) / span), f"{at:{form}}") for at in times if at <= begin + span)


def time_step(length: timedelta, *, ticks_max: int) -> timedelta:
    """The shortest round step by which an axis of this length has at most so many ticks after its first."""
    return next((step for step in STEPS if length <= ticks_max * step), length)


class _Scale:
    """The axis of money, from zero to a round number above all amounts."""

    def __init__(self, amounts: Sequence[float]) -> None:
        values = axis_ticks(amounts if any(amounts) else [1.0])
        self._top = values[-1]
        self.ticks = tuple(Tick(self.y(value), f"${number_text(value)}") for value in values)

    def y(self, amount: float) -> float:
        return round(Y_MAX - amount / self._top * (Y_MAX - Y_MIN), 1)


def _x(share: float) -> float:
    return round(X_MIN + share * (X_MAX - X_MIN), 1)
