"""Tool calls that a model wrote as text, since its server did not read them as calls."""

import ast
import json
import re
from collections.abc import Collection
from typing import Any

CHARS_MAX = 100_000
DEPTH_MAX = 4  # of lists and wrappers around a call
NAME_FIELDS = ("name", "tool", "tool_name", "function", "action", "recipient_name")
CALL_FIELDS = frozenset(
    {*NAME_FIELDS, "type", "id", "call_id", "index", "arguments", "parameters", "params", "input", "args"}
    | {"action_input", "tool_input", "tool_calls", "calls", "function_call", "tool_call"}
)
LIST_FIELDS = ("tool_calls", "calls", "function_call", "tool_call", "function")
FENCE = re.compile(r"\A```[\w-]*\s*\n(.*?)\n?\s*```\Z", re.DOTALL)
# What models put around a call: tags and special tokens of their templates.
WRAPPER = re.compile(
    r"</?(?:\w+:)?(?:tool_?calls?|function_?calls?|functions?|tool_use|tool_code|tools?|action)\s*>|<\|[^|<>]{1,40}\|>"
    r"|<｜[^｜<>]{1,40}｜>|\[/?(?:TOOL_CALLS?|TOOL_REQUEST|END_TOOL_REQUEST)\]",
    re.IGNORECASE,
)
# A whole element that names its tool, in the ways in which models do.
ELEMENTS = (
    re.compile(
        r"""<(?:\w+:)?(?:invoke|function|tool_call|tool|call)\s+name\s*=\s*["']?(?P<name>[\w.-]+)["']?\s*(?:/>|>.*>)""",
        re.DOTALL,
    ),
    re.compile(r"<function\s*=\s*(?P<name>[\w.-]+)\s*>.*", re.DOTALL),
    re.compile(r"<(?:tool_name|name)>\s*(?P<name>[\w.-]+)\s*</(?:tool_name|name)>.*>", re.DOTALL),
    re.compile(r"<(?P<name>[\w.-]+)\s*(?:/>|>.*</(?P=name)\s*>)", re.DOTALL),
    re.compile(r"(?:to=)?(?:functions\.)?(?P<name>[\w-]+)\s*(?:json|code)?\s*\{.*\}", re.DOTALL),
    re.compile(r"(?P<name>[\w.-]+)\s*<arg_key>.*</arg_value>", re.DOTALL),
    re.compile(r"Action:\s*(?P<name>[\w.-]+)\s*Action Input:.*", re.DOTALL),
)


def is_written_call(text: str, tool_names: Collection[str]) -> bool:
    """Whether a text is nothing but calls of these tools, as JSON, in tags, or as an expression."""
    if not tool_names or len(text) > CHARS_MAX:
        return False
    text = text.strip()
    if (fence := FENCE.match(text)) is not None:
        text = fence[1].strip()
    bare = WRAPPER.sub(" ", text).strip()
    return bool(bare) and (
        _is_json_call(bare, tool_names)
        or any(_is_element(part, tool_names) for part in {text, bare})
        or _is_expression(bare, tool_names)
    )


def _is_json_call(text: str, tool_names: Collection[str]) -> bool:
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):  # ends: each value has a character at least
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return False
        if not _is_call(value, tool_names):
            return False
        while place < len(text) and text[place] in " \t\r\n;,":
            place += 1
    return True


def _is_call(value: Any, tool_names: Collection[str], depth: int = 0) -> bool:
    if depth > DEPTH_MAX:
        return False
    if isinstance(value, list):
        return bool(value) and all(_is_call(item, tool_names, depth + 1) for item in value)
    if not isinstance(value, dict) or not value.keys() <= CALL_FIELDS:
        return False
    for field in NAME_FIELDS:
        name = value.get(field)
        if isinstance(name, str) and _tool_name(name) in tool_names:
            return True
    return any(
        _is_call(value[field], tool_names, depth + 1)
        for field in LIST_FIELDS
        if isinstance(value.get(field), dict | list)
    )


def _is_element(text: str, tool_names: Collection[str]) -> bool:
    matches = (pattern.fullmatch(text) for pattern in ELEMENTS)
    return any(match is not None and _tool_name(match["name"]) in tool_names for match in matches)


def _is_expression(text: str, tool_names: Collection[str]) -> bool:
    try:
        body = ast.parse(text.strip("[]"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if isinstance(body, ast.Call) and isinstance(body.func, ast.Name) and body.func.id == "print":
        body = body.args[0] if body.args else body
    if not isinstance(body, ast.Call):
        return False
    name = body.func.attr if isinstance(body.func, ast.Attribute) else getattr(body.func, "id", "")
    return name in tool_names


def _tool_name(name: str) -> str:
    return name.rpartition(".")[2]
