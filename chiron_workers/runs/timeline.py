"""Where the time of a run went: its turns with the time in the model, in tools and in waiting."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.states import EventKind

SQL = load(__file__)
CALLS_SHOWN = 12  # of one turn, those that took longest
EVENTS_LOOKED_AT = 1_000  # since the last reply
STARTS = (EventKind.RUN_STARTED, EventKind.RUN_RESUMED)
ENDS = (EventKind.RUN_COMPLETED, EventKind.RUN_FAILED, EventKind.RUN_CANCELLED)


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds that a run waited.

    Attributes:
        queue_s: For a worker.
        cooldown_s: For the model: rate limits, cool-downs, tries that failed, money that other calls had reserved.
        pause_s: While it was paused.
        handover_s: For another worker, after the one before had handed it back or was lost.
    """

    queue_s: float
    cooldown_s: float
    pause_s: float
    handover_s: float


@dataclass(frozen=True, slots=True)
class TimedCall:
    """A call of a tool: `after_s` its reply it began, and took so many seconds."""

    call_id: str
    name: str
    is_error: bool
    after_s: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns of a run, one or several folded into a row, with sums of their times, tokens and costs.

    Attributes:
        first_turn, last_turn: Counted from 1 through all attempts; a turn that has no reply yet is the last.
        seq: The event of its last reply; None while there is none.
        at: When it began, waiting included.
        model_s: From the request to the commit of the reply, without waiting in between.
        tools_s: Calls that ran side by side count once.
        context_tokens: The most that a request and its reply had together.
        cost_usd: Of replies, and of models and services that their calls used; None where a price is not known.
        calls: Of a single turn, those that took longest.
    """

    first_turn: int
    last_turn: int
    replies: int
    seq: int | None
    at: datetime
    model_s: float
    tools_s: float
    waits: Waits
    input_tokens: int
    output_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    context_tokens: int
    cost_usd: Decimal | None
    tool_calls: int
    tool_errors: int
    calls: tuple[TimedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class UnderWay:
    """The step under way, which no sum includes: model, tools, queue, cooldown, pause or handover, and its beginning."""

    activity: str
    since: datetime
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """The turns of a run in their order, `fold` of them a row, and the sums of all its turns; empty where it was pruned."""

    steps: tuple[Stretch, ...]
    fold: int
    total: Stretch | None
    under_way: UnderWay | None


async def load_timeline(
    pool: Pool, run_id: UUID, *, is_over: bool, rows: int, first: int = 1, last: int = 2**31 - 1
) -> Timeline:
    """The timeline of a run.

    Args:
        is_over: The run has ended, so nothing is under way.
        rows: At most so many; more turns are folded evenly.
        first, last: The turns that are shown; the sums are of all.
    """
    args = {"run_id": run_id, "rows": rows, "first": first, "last": last}
    *step_rows, total_row = await fetch_all(pool, SQL["steps"], args)
    shown_rows = [row for row in step_rows if row["bucket"] is not None]
    fold = total_row["fold"] or 1
    calls = await _calls(pool, run_id, shown_rows) if fold == 1 else {}
    return Timeline(
        tuple(_stretch(row, calls.get(row["first_n"], ())) for row in shown_rows),
        fold,
        _stretch(total_row) if total_row["first_turn"] else None,
        None if is_over else await _under_way(pool, run_id),
    )


def _stretch(row: DictRow, calls: tuple[TimedCall, ...] = ()) -> Stretch:
    waits = Waits(row["queue_s"], row["cooldown_s"], row["pause_s"], row["handover_s"])
    names = (
        *("first_turn", "last_turn", "replies", "seq", "at", "model_s", "tools_s"),
        *("input_tokens", "output_tokens", "cache_write_tokens", "cache_read_tokens"),
        *("context_tokens", "cost_usd", "tool_calls", "tool_errors"),
    )
    return Stretch(**{name: row[name] for name in names}, waits=waits, calls=calls)


async def _calls(pool: Pool, run_id: UUID, steps: list[DictRow]) -> dict[int, tuple[TimedCall, ...]]:
    numbers = [row["first_n"] for row in steps if row["tool_calls"]]
    if not numbers:
        return {}
    args = {"run_id": run_id, "first_n": min(numbers), "last_n": max(numbers), "calls": CALLS_SHOWN}
    calls: dict[int, tuple[TimedCall, ...]] = {}
    for row in await fetch_all(pool, SQL["calls"], args):
        n = row.pop("n")
        calls[n] = (*calls.get(n, ()), TimedCall(**row))
    return calls


async def _under_way(pool: Pool, run_id: UUID) -> UnderWay | None:
    events = await fetch_all(pool, SQL["under_way"], {"run_id": run_id, "limit": EVENTS_LOOKED_AT})
    open_calls: dict[str, str] = {}
    state: UnderWay | None = None
    for event in events:
        at = event["at"]
        match event["kind"]:
            case EventKind.TOOL_CALLED:
                open_calls[event["call_id"]] = event["name"]
                state = UnderWay("tools", at)
            case EventKind.TOOL_RETURNED:
                open_calls.pop(event["call_id"], None)
                state = state if open_calls and state else UnderWay("model", at)
            case EventKind.RUN_QUEUED:
                state = UnderWay("queue", at)
            case EventKind.RUN_PAUSED | EventKind.BUDGET_REACHED:
                state = UnderWay("pause", at)
            case EventKind.RUN_HANDED_BACK:
                state = UnderWay("cooldown" if event["waits_for"] == "model" else "handover", at)
            case kind if kind in ENDS:
                state = None
            case kind if kind in STARTS:
                state = UnderWay("tools" if open_calls else "model", at)
            case EventKind.MODEL_REPLIED:
                state = UnderWay("model", at)
    if state and state.activity == "tools":
        return UnderWay("tools", state.since, tuple(open_calls.values()))
    return state
