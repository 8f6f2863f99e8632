"""The events of a model reply."""

import json

from chiron_workers.runs.entries import Reply, ToolCall
from chiron_workers.runs.fence import NewEvent
from chiron_workers.states import EventKind

SHOWN_ARGUMENTS = 20
SHOWN_CHARS = 300  # of texts and arguments in events


def reply_events(reply: Reply, *, turn: int) -> list[NewEvent]:
    """Describe a reply as events: its usage and its first words, then each call that it makes."""
    usage = reply.usage
    payload: dict[str, object] = {
        "turn": turn,
        "stop": reply.stop,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_write_tokens": usage.written_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cost_usd": None if reply.cost_usd is None else float(reply.cost_usd),
        "text": reply.text[:SHOWN_CHARS],
    }
    if reply.is_compaction:
        return [(EventKind.MODEL_REPLIED, payload | {"folds": True})]
    if not reply.has_open_calls:
        return [(EventKind.MODEL_REPLIED, payload)]
    calls = [(EventKind.TOOL_CALLED, _call_payload(call)) for call in reply.calls]
    return [(EventKind.MODEL_REPLIED, payload), *calls]


def _call_payload(call: ToolCall) -> dict[str, object]:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"": call.arguments}
    excerpt = {name: _clip(value) for name, value in list(arguments.items())[:SHOWN_ARGUMENTS]}
    return {"call_id": call.id, "name": call.name, "arguments": excerpt}


def _clip(value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS]
