"""The waterfall of a run in percent of its width; the template draws it without a script.

Each row begins at zero with what its turns waited for, then the model call, then the calls of tools from its reply on, so rows
are compared by their lengths. A long wait is cut: the hours of a night would hide the seconds of a turn.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from chiron_api.answers.runs import RunTimeline, TimedCall, TimedTurns, Waits
from chiron_api.http.page.charts import Tick, time_step
from chiron_api.text import count, duration, span
from chiron_api.views.timelines import time_sums, wait_sums

ROWS = 40
LANES_MAX = 4  # of calls that run side by side, one below the other
WAIT_SHARE = 0.25  # of the longest turn that a wait takes at most
TICKS_MAX = 5
DOINGS = {
    "model": "Waiting for the reply of the model",
    "tools": "Running tools",
    "queue": "Waiting for a worker",
    "cooldown": "Waiting for a cool-down of the model",
    "pause": "Paused",
    "handover": "Waiting for another worker",
}


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar in percent of the width and the height of its row; `kind` is waiting, model, tool or error."""

    kind: str
    x: float
    width: float
    y: float
    height: float
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """Turns with their bars, and all of it in words; `is_cut` where a wait was longer than its bar."""

    turns: TimedTurns
    name: str
    words: str
    waits: str
    bars: tuple[Bar, ...]
    is_cut: bool
    context_share: float


@dataclass(frozen=True, slots=True)
class Waterfall:
    """A run's turns as rows over a common axis, whose ticks are in percent of its width."""

    timeline: RunTimeline
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    sums: tuple[tuple[str, str], ...]
    doing: str  # the current activity of the run; empty where it has ended


def waterfall_of(timeline: RunTimeline) -> Waterfall:
    """The drawing of a timeline."""
    busy_s = max((_busy_s(turns) for turns in timeline.steps), default=0.0)
    wait_max_s = WAIT_SHARE * busy_s or 1.0
    longest_s = max(
        (min(_waited_s(turns.waits), wait_max_s) + _busy_s(turns) for turns in timeline.steps), default=0.0
    )
    step_s = time_step(timedelta(seconds=longest_s), ticks_max=TICKS_MAX).total_seconds()
    width_s = longest_s or 1.0
    rows = tuple(_row(turns, timeline, wait_max_s, width_s) for turns in timeline.steps)
    ticks = tuple(
        Tick(round(100 * n * step_s / width_s, 2), duration(n * step_s) if n else "0")
        for n in range(TICKS_MAX + 1)
        if n * step_s <= width_s
    )
    total = timeline.total
    return Waterfall(timeline, rows, ticks, _sums(total) if total else (), _doing(timeline))


def _sums(total: TimedTurns) -> tuple[tuple[str, str], ...]:
    return tuple((name.capitalize(), span(seconds)) for name, seconds in time_sums(total).items())


def _doing(timeline: RunTimeline) -> str:
    now = timeline.under_way
    if now is None:
        return ""
    names = ", ".join(sorted(set(now.tools)))
    return f"{DOINGS[now.activity]}{f' ({names})' if names else ''}"


def _waited_s(waits: Waits) -> float:
    return waits.queue_s + waits.cooldown_s + waits.pause_s + waits.handover_s


def _busy_s(turns: TimedTurns) -> float:
    reach_s = max((call.after_s + call.seconds for call in turns.calls), default=0.0)
    return turns.model_s + max(reach_s, turns.tools_s)


def _row(turns: TimedTurns, timeline: RunTimeline, wait_max_s: float, width_s: float) -> Row:
    waited_s = _waited_s(turns.waits)
    wait_s = min(waited_s, wait_max_s)
    waits = ", ".join(f"{name} {span(seconds)}" for name, seconds in wait_sums(turns.waits).items())
    bars = [_bar("waiting", 0, wait_s, width_s, words=waits)] if waits else []
    if turns.model_s:
        bars.append(_bar("model", wait_s, turns.model_s, width_s, words=f"model {span(turns.model_s)}"))
    bars += _tool_bars(turns, wait_s + turns.model_s, width_s)
    is_single = turns.first_turn == turns.last_turn
    name = f"{turns.first_turn}" if is_single else f"{turns.first_turn:,} to {turns.last_turn:,}"
    parts = [waits, f"model {span(turns.model_s)}", *_tool_words(turns)]
    words = f"Turn{'' if is_single else 's'} {name}: {', '.join(part for part in parts if part)}"
    share = min(1.0, turns.context_tokens / timeline.window_tokens)
    return Row(turns, name, words, waits, tuple(bars), waited_s > wait_max_s, share)


def _tool_words(turns: TimedTurns) -> Iterable[str]:
    if turns.tool_calls:
        yield f"tools {span(turns.tools_s)} ({count(turns.tool_calls, 'call')})"
    if turns.tool_errors:
        yield f"{turns.tool_errors:,} failed"


def _tool_bars(turns: TimedTurns, begin_s: float, width_s: float) -> list[Bar]:
    """Bars of the calls of a turn, concurrent ones in separate lanes; one bar for several turns."""
    if not turns.calls:
        words = ", ".join(_tool_words(turns))
        return [_bar("tool", begin_s, turns.tools_s, width_s, words=words)] if turns.tools_s else []
    lanes = _lanes(turns.calls)
    lane_count = min(LANES_MAX, max(lanes) + 1)
    return [
        _bar(
            "error" if call.is_error else "tool",
            begin_s + call.after_s,
            call.seconds,
            width_s,
            lane=min(lane, LANES_MAX - 1),
            lanes=lane_count,
            words=f"{call.name} {span(call.seconds)}{', failed' if call.is_error else ''}",
        )
        for lane, call in zip(lanes, turns.calls, strict=True)
    ]


def _lanes(calls: Sequence[TimedCall]) -> list[int]:
    """For each call, in the order of their beginnings, the first lane that is free by then."""
    ends: list[float] = []
    lanes = []
    for call in calls:
        lane = next((n for n, end in enumerate(ends) if end <= call.after_s), len(ends))
        ends[lane : lane + 1] = [call.after_s + call.seconds]
        lanes.append(lane)
    return lanes


def _bar(
    kind: str, begin_s: float, seconds: float, width_s: float, *, words: str, lane: int = 0, lanes: int = 1
) -> Bar:
    height = 100 / lanes
    return Bar(
        kind,
        round(100 * begin_s / width_s, 2),
        max(0.3, round(100 * seconds / width_s, 2)),  # so that a short bar stays visible
        round(lane * height, 1),
        round(height, 1),
        words,
    )
