"""The keywords of JSON schema that are kept, and what each of them may hold."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
TEXT_CHARS_MAX = 1_000
CHOICES_MAX = 500


def upgrade(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert keywords of older drafts to those of 2020-12."""
    if isinstance(node.get("items"), list):
        node = {**{key: value for key, value in node.items() if key != "items"}, "prefixItems": node["items"]}
    if node.get("nullable") is True and isinstance(node.get("type"), str):
        node = {**node, "type": [node["type"], "null"]}
    for flag, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if node.get(flag) is True and limit in node:
            node = {**{key: value for key, value in node.items() if key != limit}, flag: node[limit]}
    return node


def _type(value: object) -> object:
    if isinstance(value, list):
        types = [name for name in dict.fromkeys(map(str, value)) if name in TYPES]
        return types[0] if len(types) == 1 else types or None
    return value if value in TYPES else None


def _text(value: object) -> str | None:
    return value[:TEXT_CHARS_MAX] if isinstance(value, str) else None


def _finite(value: Any) -> Any:
    # The library reads NaN, Infinity and 1e999; neither Postgres nor the Messages API accepts them.
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return value


def _choices(value: object) -> list[Any] | None:
    return _finite(value) if isinstance(value, list) and 0 < len(value) <= CHOICES_MAX else None


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _finite(value) if is_number else None


def _positive_number(value: object) -> float | None:
    number = _number(value)
    return number if number and number > 0 else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _names(value: object) -> list[str] | None:
    names = value if isinstance(value, list) else []
    return list(dict.fromkeys(name for name in names if isinstance(name, str))) or None


def _pattern(value: object) -> str | None:
    if not isinstance(value, str) or len(value) > TEXT_CHARS_MAX:
        return None
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError):
        return None
    return value


# For each keyword, a function that returns the value to keep; None leaves the keyword out.
VALUE_KEYWORDS: dict[str, Callable[[Any], Any]] = {
    "type": _type,
    "description": _text,
    "format": _text,
    "pattern": _pattern,
    "enum": _choices,
    "const": _finite,
    "default": _finite,
    "required": _names,
    "multipleOf": _positive_number,
    "uniqueItems": _flag,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _number),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count
    ),
}
SCHEMA_KEYWORDS = frozenset({"items", "additionalProperties", "not", "propertyNames"})
SCHEMA_LIST_KEYWORDS = frozenset({"prefixItems", "anyOf", "oneOf", "allOf"})
