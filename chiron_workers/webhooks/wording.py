"""A notice in one line, for people."""

from collections.abc import Mapping
from typing import Any

from chiron_workers.settings import Settings
from chiron_workers.states import NoticeKind

NAME_CHARS_MAX = 120
REASON_CHARS_MAX = 200


def absolute(payload: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """The payload with its link as an address that can be opened."""
    data = payload["data"]
    return {**payload, "data": {**data, "link": f"{_base(settings)}{data['link']}"}}


def sentence(payload: Mapping[str, Any]) -> str:
    """What happened, in one line, without the link."""
    data = payload["data"]
    name = f"“{_line(str(data.get('name', '')), NAME_CHARS_MAX)}”"
    match payload["type"]:
        case NoticeKind.BATCH_COMPLETED:
            runs = ", ".join(f"{count:,} {state}" for state, count in data["runs"].items())
            return f"The batch {name} has ended: {runs}; {_came_to(data)}."
        case NoticeKind.SUBSCRIPTION_NEWS:
            counts = ", ".join(f"{count:,} {word}" for word, count in data["counts"].items() if count)
            return f"There is news of {data['subject_id']}, {name}: {counts or 'changes'}."
        case NoticeKind.RUN_COMPLETED:
            return f"The run {name} is completed; {_came_to(data)}."
        case NoticeKind.RUN_FAILED:
            return f"The run {name} has failed: {_reason(data)}"
        case NoticeKind.RUN_CANCELLED:
            return f"The run {name} was cancelled; {_came_to(data)}."
        case NoticeKind.RUN_PAUSED:
            return f"The run {name} waits for somebody: {_reason(data)}"
        case NoticeKind.BUDGET_REACHED:
            return f"The run {name} has reached a budget: {_reason(data)}"
    return "This is a test: the webhook works."


def _base(settings: Settings) -> str:
    if settings.public_url:
        return settings.public_url.rstrip("/")
    host = settings.api_host if ":" not in settings.api_host else f"[{settings.api_host}]"
    return f"http://{host}:{settings.api_port}"


def _came_to(data: Mapping[str, Any]) -> str:
    facts, runs = data["facts"], data.get("nothing_found")  # of deliveries of an earlier version none
    parts = [f"{facts:,} {'fact' if facts == 1 else 'facts'}"]
    parts += [f"{data[name]:,} {name}" for name in ("confirmed", "cited") if data.get(name)]
    if runs is True:
        parts = ["nothing found"]
    elif runs:
        parts.append(f"{runs:,} {'run' if runs == 1 else 'runs'} found nothing")
    return f"{', '.join(parts)}, {data['spent_usd']:,.2f} USD"


def _reason(data: Mapping[str, Any]) -> str:
    return _line(str(data.get("reason", "nobody knows why.")), REASON_CHARS_MAX)


def _line(text: str, chars_max: int) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= chars_max else f"{line[: chars_max - 1]}…"
