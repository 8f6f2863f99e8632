"""A complete message, as its server sent it, as a `Reply`: it is paid for, so what is wrong with it raises nothing."""

from typing import Any

from chiron_workers.billing.tariffs import Tariff
from chiron_workers.model.stream import Wire
from chiron_workers.runs.entries import Block, Reply, Usage, object_of, storable

COUNT_MAX = 2**31 - 1  # what a column of a count holds
ID_CHARS_MAX = 500  # of a call: it is part of a key
PROBLEMS_SHOWN = 3
SHOWN_CHARS = 60


def reply_of(message: Wire, *, problem: str, model: str, request_id: str, tariff: Tariff) -> Reply:
    """The reply that a complete message is.

    Args:
        problem: What is wrong with the stream that it came in, if anything is.
        model: The one that was asked.
        tariff: What it costs.
    """
    problems = [problem] if problem else []
    blocks, rejected = _usable(message["content"], problems)
    usage = _usage(message.get("usage"))
    stop, answering_model = message.get("stop_reason"), message.get("model") or model
    has_calls = any(block["type"] == "tool_use" for block in blocks)
    if (stop is not None and not isinstance(stop, str)) or (not stop and not has_calls):
        problems.append("it gives no stop reason" if stop is None else f"its stop reason is {_shown(stop)}")
    if not isinstance(answering_model, str):
        problems.append(f"its model is {_shown(answering_model)}")
        answering_model = model
    return Reply(
        content=tuple(blocks),
        stop=stop if isinstance(stop, str) else "",
        usage=usage or Usage(),
        cost_usd=tariff.cost_usd(usage or Usage()),
        model=answering_model,
        request_id=storable(request_id),
        problem="; ".join(problems[:PROBLEMS_SHOWN]),
        rejected=tuple(rejected),
        is_usage_unknown=usage is None,
    )


def _usable(content: list[Any], problems: list[str]) -> tuple[list[Block], list[Any]]:
    blocks: list[Block] = []
    rejected: list[Any] = []
    ids: dict[str, int] = {}  # how often each was given
    for block in content:
        if problem := _problem_of(block):
            problems.append(problem)
            rejected.append(block)
        elif block["type"] == "tool_use":
            call_id = _distinct(block["id"], ids)
            blocks.append(block | {"id": call_id, "input": object_of(block.get("input"))})
        else:
            blocks.append(block)
    return blocks, rejected


def _problem_of(block: Any) -> str:
    match block:
        case {"type": "text", "text": str()}:
            return ""
        case {"type": "text"}:
            return "a text block has no text"
        case {"type": "tool_use"}:
            return _problem_of_call(block)
        case {"type": str(kind)} if kind:
            return ""
    return f"a block has no type: {_shown(block)}"


def _problem_of_call(block: Block) -> str:
    call_id, name = block.get("id"), block.get("name")
    if not isinstance(name, str) or not name:
        return "a tool_use block has no name"
    if not isinstance(call_id, str) or not call_id:
        return f"the tool_use block for {_shown(name)} has no id"
    if "\x00" in call_id or len(call_id) > ID_CHARS_MAX:
        return f"the id of the tool_use block for {_shown(name)} cannot be kept"
    return ""


def _distinct(call_id: str, ids: dict[str, int]) -> str:
    # Some servers number calls anew in each reply or not at all; the API takes an id once, and a result belongs to one.
    distinct_id = call_id
    while distinct_id in ids:
        ids[call_id] += 1
        distinct_id = f"{call_id}_{ids[call_id]}"
    ids[distinct_id] = 1
    return distinct_id


def _usage(value: Any) -> Usage | None:
    """What a reply took; None where its server does not say so, or says what cannot be."""
    counts = value if isinstance(value, dict) else {}
    creation, tools = counts.get("cache_creation") or {}, counts.get("server_tool_use") or {}
    if not isinstance(creation, dict) or not isinstance(tools, dict):
        return None
    numbers: dict[str, Any] = {
        "input": counts.get("input_tokens"),
        "output": counts.get("output_tokens"),
        "written": counts.get("cache_creation_input_tokens") or 0,
        "written_1h": creation.get("ephemeral_1h_input_tokens") or 0,
        "read": counts.get("cache_read_input_tokens") or 0,
        "searches": tools.get("web_search_requests") or 0,
    }
    if not all(map(_is_count, numbers.values())):
        return None
    count = {name: int(number) for name, number in numbers.items()}
    usage = Usage(
        input_tokens=count["input"],
        output_tokens=count["output"],
        cache_write_tokens=max(0, count["written"] - count["written_1h"]),
        cache_write_1h_tokens=count["written_1h"],
        cache_read_tokens=count["read"],
        web_searches=count["searches"],
    )
    return usage if usage.tokens <= COUNT_MAX else None


def _is_count(number: Any) -> bool:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return is_number and 0 <= number <= COUNT_MAX and number == int(number)


def _shown(value: Any) -> str:
    return f"{value!r:.{SHOWN_CHARS}}"
