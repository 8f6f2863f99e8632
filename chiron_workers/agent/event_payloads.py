"""The events of a model reply."""

import json
from collections.abc import Sequence

from chiron_workers.runs.entries import Reply, ToolCall, storable
from chiron_workers.runs.fence import NewEvent
from chiron_workers.states import EventKind

SHOWN_ARGUMENTS = 20
SHOWN_CHARS = 300  # of texts and arguments in events
THOUGHT_CHARS = 2_000
WAIT_MIN_MS = 500  # that an event of a reply tells of: a reservation alone takes some


def reply_events(reply: Reply, *, turn: int) -> list[NewEvent]:
    """Describe a reply as events: what was thought, its usage and its first words, then each call that it makes."""
    thoughts = storable(reply.thoughts[:THOUGHT_CHARS])
    events: list[NewEvent] = [(EventKind.MODEL_THOUGHT, {"turn": turn, "text": thoughts})] if thoughts else []
    payload: dict[str, object] = {
        "turn": turn,
        "stop": reply.stop,
        **usage_payload([reply]),
        "text": storable(reply.text[:SHOWN_CHARS]),
    }
    payload |= reply.doubts()
    if reply.waited_ms >= WAIT_MIN_MS:
        payload |= {"waited_ms": reply.waited_ms}
    if reply.is_compaction:
        payload |= {"folds": True}
    events.append((EventKind.MODEL_REPLIED, payload))
    if reply.has_open_calls:
        events += [(EventKind.TOOL_CALLED, _call_payload(call)) for call in reply.calls]
    return events


def usage_payload(replies: Sequence[Reply]) -> dict[str, object]:
    """What replies used, as the fields of an event that tells of them; no cost where that of one is unknown."""
    usages = [reply.usage for reply in replies]
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    return {
        "input_tokens": sum(usage.input_tokens for usage in usages),
        "output_tokens": sum(usage.output_tokens for usage in usages),
        "cache_write_tokens": sum(usage.written_tokens for usage in usages),
        "cache_read_tokens": sum(usage.cache_read_tokens for usage in usages),
        "cost_usd": float(sum(costs)) if len(costs) == len(replies) else None,
    }


def _call_payload(call: ToolCall) -> dict[str, object]:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"": call.arguments}
    excerpt = {name: _clip(value) for name, value in list(arguments.items())[:SHOWN_ARGUMENTS]}
    return {"call_id": call.id, "name": call.name, "arguments": excerpt}


def _clip(value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS]
