"""An event in words, and as a line of a log that people read or grep."""

from collections.abc import Mapping
from typing import Any

from chiron_api.text import local_time, one_line
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind, RunState

ARGUMENT_CHARS = 60
STATE_AFTER = {
    EventKind.RUN_QUEUED: RunState.QUEUED,
    EventKind.RUN_HANDED_BACK: RunState.QUEUED,
    EventKind.RUN_STARTED: RunState.RUNNING,
    EventKind.RUN_RESUMED: RunState.RUNNING,
    EventKind.RUN_PAUSED: RunState.PAUSED,
    EventKind.RUN_COMPLETED: RunState.COMPLETED,
    EventKind.RUN_FAILED: RunState.FAILED,
    EventKind.RUN_CANCELLED: RunState.CANCELLED,
}


def phrase(event: Event) -> str:
    """An event in a few words that are safe to print."""
    data = event.data
    match event.kind:
        case EventKind.RUN_QUEUED:
            return "waits for a worker"
        case EventKind.RUN_STARTED | EventKind.RUN_RESUMED:
            verb = "started" if event.kind == EventKind.RUN_STARTED else "resumed"
            return f"{verb} on {event_field(data, 'worker')}"
        case EventKind.MODEL_THOUGHT:
            return f"thinks: {event_field(data, 'text')}"
        case EventKind.MODEL_REPLIED:
            return one_line(
                f"turn {event_field(data, 'turn')}: {event_field(data, 'text') or event_field(data, 'stop')}"
            )
        case EventKind.TOOL_CALLED:
            return one_line(f"{event_field(data, 'name')} {_arguments(data.get('arguments'))}", chars_max=160)
        case EventKind.TOOL_RETURNED:
            result = "error" if data.get("is_error") else f"{event_field(data, 'chars')} characters"
            if confirmed_count := confirmed(data):
                facts = "fact" if confirmed_count == 1 else "facts"
                result = f"{confirmed_count:,} {facts} confirmed, {result}"
            return f"{event_field(data, 'name')} returned: {result} in {event_field(data, 'ms')} ms"
        case EventKind.FACT_STORED:
            return f"fact: {event_field(data, 'content')} ({event_field(data, 'source_url')}, {event_field(data, 'confidence')})"
        case EventKind.NODE_SAVED:
            return f"node: {event_field(data, 'title')}"
        case EventKind.RUN_PAUSED | EventKind.RUN_HANDED_BACK | EventKind.BUDGET_REACHED:
            return f"{_kind_words(event.kind)}: {event_field(data, 'reason')}".rstrip(": ")
        case EventKind.RUN_COMPLETED:
            how = "completed silently" if data.get("silent") else "completed"
            how += ", nothing found" if data.get("nothing_found") else ""
            return f"{how}: {event_field(data, 'answer')}".rstrip(": ")
        case EventKind.RUN_FAILED:
            return f"failed ({event_field(data, 'kind')}): {event_field(data, 'message')}"
    return _kind_words(event.kind)


def confirmed(data: Mapping[str, Any]) -> int:
    """How many facts of other runs a tool met, by the event of its return."""
    count = data.get("confirmed")
    return count if isinstance(count, int) else 0


def cited(data: Mapping[str, Any]) -> int:
    """How many facts that were known before the answer of a run cites, by the event of its end."""
    count = data.get("cited")
    return count if isinstance(count, int) else 0


def numbered(number: int, topic: str) -> str:
    """A topic behind the number of its run in its batch, by which the run can be named; 0 where that is not known."""
    return f"#{number} {topic}" if number else topic


def event_line(event: Event, label: str) -> str:
    """One line of a log that people read or grep."""
    return f"{local_time(event.at, '%H:%M:%S')}  {label}  {phrase(event)}"


def event_field(data: Mapping[str, Any], name: str) -> str:
    """A field of an event on one line, safe to print; empty where there is none."""
    value = data.get(name)
    return "" if value is None else one_line(str(value))


def _kind_words(kind: str) -> str:
    return one_line(kind).removeprefix("run.").replace(".", " ").replace("_", " ")


def _arguments(arguments: object) -> str:
    if not isinstance(arguments, dict):
        return "" if arguments is None else str(arguments)
    return ", ".join(f"{name}={_shortened(repr(value))}" for name, value in arguments.items())


def _shortened(text: str) -> str:
    return text if len(text) <= ARGUMENT_CHARS else f"{text[: ARGUMENT_CHARS - 1]}…"
