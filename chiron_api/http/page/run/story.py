"""A run as a story: its events, told turn by turn, each call with what came of it and the facts that it stored."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.http.page.filters import host, plural
from chiron_api.http.page.run.phrases import PHRASES, phrase_other
from chiron_api.text import duration, one_line
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load as load_queries
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.states import EventKind

SQL = load_queries(__file__)
EVENTS_PER_PAGE = 400
SHOWN_CHARS = 300  # that an event holds of a reply's words
RESULT_CHARS = 60_000  # of a result on a page of its own
EXCERPT_CHARS = 1_000  # of one in a story, in which a title or a status stands
WORDS_CHARS = 200
NEWEST = 2**31 - 1


@dataclass(slots=True)
class Call:
    """A call of a tool in one line: what was asked, and what came of it once it is back."""

    call_id: str
    name: str
    words: str
    seq: int = 0  # of the event with which it began; 0 where that is on another page
    address: str = ""  # of what was read
    result: str = ""
    is_error: bool = False
    is_open: bool = True
    facts: list[DictRow] = field(default_factory=list)


@dataclass(slots=True)
class Turn:
    """One reply of the model with its calls, or something that happened to the run (`rule`)."""

    seq: int
    at: datetime
    thinking: str = ""
    words: str = ""
    number: int | None = None
    reply_seq: int = 0  # of the event of the reply; the turn may begin with that of its thinking
    rule: str = ""
    kind: str = ""
    is_error: bool = False
    cost_usd: float | None = None
    reported: dict[str, Any] | None = (
        None  # what the server says it cost, where that is more than was charged
    )
    is_usage_unknown: bool = False
    calls: list[Call] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Story:
    """Turns in the order of time; `before` leads to the page before them, if there is one, `last_seq` to what follows."""

    turns: list[Turn]
    before: int | None
    last_seq: int
    ended: list[Call]  # that began before `after`, and stand on the page as open


async def load(pool: Pool, run_id: UUID, *, before: int = NEWEST, after: int = 0) -> Story:
    """The last page of a run's story that ends before a number, or what follows a number."""
    args = {"run_id": run_id, "before": before, "after": after, "limit": EVENTS_PER_PAGE + 1}
    rows = await fetch_all(pool, SQL["events"], args)
    events = rows[:EVENTS_PER_PAGE][::-1]
    call_ids = [
        event["data"].get("call_id", "") for event in events if event["kind"] == EventKind.TOOL_RETURNED
    ]
    result_args = {"run_id": run_id, "call_ids": call_ids, "chars": EXCERPT_CHARS}
    results = {row["call_id"]: row for row in await fetch_all(pool, SQL["results"], result_args)}
    fact_ids = [event["data"].get("fact_id") for event in events if event["kind"] == EventKind.FACT_STORED]
    fact_args = {
        "run_id": run_id,
        "fact_ids": [id_ for text in fact_ids if (id_ := parse_id_or_none(str(text)))],
    }
    facts = await fetch_all(pool, SQL["facts"], fact_args)
    begun = await _begun(pool, args | {"call_ids": call_ids}) if after and call_ids else {}
    return Story(
        _tell(events, results, facts, begun),
        events[0]["seq"] if len(rows) > EVENTS_PER_PAGE else None,
        events[-1]["seq"] if events else after,
        [call for call in begun.values() if not call.is_open],
    )


async def _begun(pool: Pool, args: Mapping[str, Any]) -> dict[str, Call]:
    calls = [_call(event["data"], event["seq"]) for event in await fetch_all(pool, SQL["begun"], args)]
    return {call.call_id: call for call in calls}


async def load_call(pool: Pool, run_id: UUID, call_id: str) -> DictRow | None:
    """A call with its arguments and the beginning of its result; None where there is none (any more)."""
    args = {"run_id": run_id, "call_id": call_id, "chars": RESULT_CHARS}
    rows = await fetch_all(pool, SQL["call"], args)
    return rows[0] if rows else None


async def load_result(pool: Pool, run_id: UUID, call_id: str) -> str | None:
    """The result of a call as far as it is kept, which is more than the model was shown; None where there is none."""
    rows = await fetch_all(pool, SQL["result"], {"run_id": run_id, "call_id": call_id})
    return rows[0]["result"] if rows else None


def _tell(
    events: Sequence[DictRow],
    results: Mapping[str, DictRow],
    facts: Sequence[DictRow],
    begun: Mapping[str, Call],
) -> list[Turn]:
    turns: list[Turn] = []
    calls: dict[str, Call] = {}
    for event in events:
        data = event["data"]
        match event["kind"]:
            case EventKind.MODEL_THOUGHT:
                turns.append(Turn(event["seq"], event["at"], thinking=str(data.get("text", ""))))
            case EventKind.MODEL_REPLIED:
                _reply(turns, event)
            case EventKind.TOOL_CALLED:
                call = _call(data, event["seq"])
                calls[call.call_id] = call
                _calls_of(turns, event).append(call)
            case EventKind.TOOL_RETURNED:
                call_id = str(data.get("call_id"))
                call = calls.get(call_id) or begun.get(call_id) or _called_before(turns, event)
                _settle(call, data, results.get(call.call_id), facts)
            case EventKind.FACT_STORED:
                pass  # stands with its call
            case kind:
                if kind == EventKind.RUN_COMPLETED and turns and turns[-1].words:
                    turns[-1].words = "Gives its answer."  # which the page shows in full
                turns.append(_rule(kind, event))
    return turns


def _reply(turns: list[Turn], event: DictRow) -> None:
    data = event["data"]
    if not (turns and turns[-1].thinking and turns[-1].number is None):
        turns.append(Turn(event["seq"], event["at"]))
    turn = turns[-1]
    text = str(data.get("text", ""))
    turn.reply_seq = event["seq"]
    turn.number, turn.cost_usd = data.get("turn"), data.get("cost_usd")
    turn.reported, turn.is_usage_unknown = data.get("reported"), bool(data.get("usage_unknown"))
    turn.words = f"{text}…" if len(text) == SHOWN_CHARS else text
    if data.get("folds"):
        turn.rule, turn.kind = (
            "The conversation had grown long: it continues from a summary, in a new epoch.",
            "epoch",
        )


def _calls_of(turns: list[Turn], event: DictRow) -> list[Call]:
    if not turns or turns[-1].rule:
        turns.append(Turn(event["seq"], event["at"]))
    return turns[-1].calls


def _called_before(turns: list[Turn], event: DictRow) -> Call:
    """A call whose beginning stands on an earlier page."""
    call = _call({"call_id": event["data"].get("call_id"), "name": event["data"].get("name")})
    _calls_of(turns, event).append(call)
    return call


def _rule(kind: str, event: DictRow) -> Turn:
    data = event["data"]

    def text(name: str) -> str:
        return one_line(str(data.get(name) or ""), chars_max=WORDS_CHARS)

    words = {
        EventKind.RUN_QUEUED: "Waits for a worker.",
        EventKind.RUN_STARTED: f"Started on {text('worker')}.",
        EventKind.RUN_RESUMED: f"Continues on {text('worker')}, from where its journal ends.",
        EventKind.RUN_PAUSED: f"Paused: {text('reason')}",
        EventKind.RUN_HANDED_BACK: f"Handed back to wait: {text('reason')}",
        EventKind.BUDGET_REACHED: f"Budget reached: {text('reason')}",
        EventKind.NODE_SAVED: f"The map has: {text('title')}",
        EventKind.RUN_COMPLETED: "Completed.",
        EventKind.RUN_FAILED: f"Failed ({text('kind')}): {text('message')}",
        EventKind.RUN_CANCELLED: "Cancelled.",
        EventKind.BATCH_COMPLETED: "It was the last run of its batch.",
    }
    is_error = kind in (EventKind.RUN_FAILED, EventKind.BUDGET_REACHED)
    sentence = words.get(EventKind(kind), kind) if kind in set(EventKind) else one_line(kind)
    return Turn(event["seq"], event["at"], rule=sentence.rstrip(": "), kind=kind, is_error=is_error)


def _call(data: Mapping[str, Any], seq: int = 0) -> Call:
    name, arguments = one_line(str(data.get("name", ""))), data.get("arguments") or {}
    arguments = arguments if isinstance(arguments, dict) else {"": arguments}
    words, address = PHRASES.get(name, phrase_other)(arguments)
    return Call(str(data.get("call_id", "")), name, one_line(words, chars_max=WORDS_CHARS), seq, address)


def _settle(call: Call, data: Mapping[str, Any], result: DictRow | None, facts: Sequence[DictRow]) -> None:
    call.is_open, call.is_error = False, bool(data.get("is_error"))
    call.facts = [fact for fact in facts if fact["call_id"] == call.call_id]
    body = result["body"] if result else ""
    span = _span(data.get("ms"))
    if call.is_error:
        call.result = one_line(body, chars_max=2 * WORDS_CHARS) or "error"
        return
    match call.name:
        case "web_search" | "vector_search" if result and result["hits"] is not None:
            call.result = plural(result["hits"], "source" if call.name == "web_search" else "fact")
        case "web_fetch" if title := _member(body, "title"):
            call.words = f"read {one_line(title, chars_max=WORDS_CHARS)} - {host(call.address)}"
            call.result = span
        case "store_knowledge" if status := _member(body, "status"):
            call.result = one_line(status)
        case _:
            call.result = span


def _member(excerpt: str, name: str) -> str:
    """The first text of this name in the beginning of a JSON document; empty where there is none."""
    match = re.search(rf'"{name}": ("(?:[^"\\]|\\.)*")', excerpt)
    return str(json.loads(match[1])) if match else ""


def _span(ms: object) -> str:
    if not isinstance(ms, int):
        return ""
    return f"{ms} ms" if ms < 1_000 else duration(ms / 1_000)
