"""What a tool's properties ask for, worked out from their names, descriptions and types, and how to fill them."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from chiron_workers.offline.researcher.vocabulary import VOCABULARY
from chiron_workers.offline.researcher.words import parts, slug, words


class Purpose(StrEnum):
    """What a property is for."""

    QUERY = "query"
    ADDRESS = "address"
    SUBJECT = "subject"
    CONTENT = "content"
    QUOTE = "quote"
    TOPIC = "topic"
    SCORE = "score"
    CONFIDENCE = "confidence"
    LIMIT = "limit"
    CONTRADICTIONS = "contradictions"
    POSITION = "position"


_VOCABULARY = {purpose: VOCABULARY[f"asks-{purpose}"] for purpose in Purpose}
_VOCABULARY[Purpose.ADDRESS] |= VOCABULARY["address"]
_TYPES: dict[Purpose, frozenset[str]] = {
    **dict.fromkeys(Purpose, frozenset({"string"})),
    Purpose.TOPIC: frozenset({"string", "array"}),
    Purpose.SCORE: frozenset({"number", "integer"}),
    Purpose.CONFIDENCE: frozenset({"number", "integer"}),
    Purpose.LIMIT: frozenset({"integer", "number"}),
    Purpose.POSITION: frozenset({"integer"}),
    Purpose.CONTRADICTIONS: frozenset({"array", "string"}),
}
_BOUNDS = VOCABULARY["bounds"]
_RANGE = re.compile(r"\b0(?:\.0)?\s*(?:-|–|\.\.+|to|and)\s*(1|5|10|100)(?:\.0)?\b")


def purposes(properties: Mapping[str, dict[str, Any]]) -> dict[Purpose, str]:
    """The property that serves each purpose best; a property serves one purpose at most."""
    ranked = sorted(
        (
            (-_fit(purpose, name, schema), order, purpose, name)
            for order, (name, schema) in enumerate(properties.items())
            for purpose in Purpose
        ),
        key=lambda row: row[:2],
    )
    found: dict[Purpose, str] = {}
    for fit, _, purpose, name in ranked:
        if fit < 0 and purpose not in found and name not in found.values():
            found[purpose] = name
    return found


def types(schema: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types a schema allows, also inside anyOf; a bare enum is a string."""
    own = schema.get("type")
    found = {own} if isinstance(own, str) else set(own or ())
    for part in [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]:
        found |= types(part)
    return frozenset(found or {"string"}) - {"null"}


def fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value in the form that a schema asks for: scaled, clamped, cut, or as a list."""
    allowed = types(schema)
    if isinstance(value, int | float):
        return _number(value, schema, whole="number" not in allowed)
    if isinstance(value, str) and "array" in allowed and "string" not in allowed:
        return [value]
    if isinstance(value, list) and "array" not in allowed:
        return "; ".join(value)
    if isinstance(value, str) and isinstance(schema.get("maxLength"), int):
        return value[: schema["maxLength"]]
    return value


def plain(name: str, schema: Mapping[str, Any], *, said: str, topic: str) -> Any:
    """A value for a property that must be given and whose purpose is not clear."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if (told := told_value(name, said)) is not None:
        return told
    match sorted(types(schema))[0]:
        case "array":
            return []
        case "boolean":
            return False
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "object":
            return {}
        case _:
            return topic


def told_value(name: str, said: str) -> str | None:
    """What the conversation gives as the value of a name, `name: value` or `name=value`; the last mention counts.

    The value is one word that ends its line or its bracket, so that a sentence about the name is not taken for it.
    """
    pattern = rf"\b{re.escape(name)}\b[\"'`]?\s*[:=]\s*[\"'`]?([\w./:-]*\w)(?=[\"'`)\],;.]|[ \t]*$)"
    found = re.findall(pattern, said, re.M)
    return found[-1] if found else None


def subject(name: str, said: str, topic: str) -> str:
    """The subject the conversation is about: told by the property's name, else on a line of its own, else the topic."""
    if told := told_value(name, said):
        return told
    labels = "|".join(sorted(_VOCABULARY[Purpose.SUBJECT] | set(parts(name)) - {"id", "key", "slug"}))
    lines = re.findall(rf"^\W*(?:\w+ )?(?:{labels})[\w ]{{0,12}}:\s*(.+?)\W*$", said, re.M | re.I)
    if not lines:
        return slug(topic)
    inside = re.search(r"[(\[](?:[\w ]*[:=]\s*)?([\w./-]+)$", lines[-1])
    return inside[1] if inside else lines[-1] if re.fullmatch(r"[\w./-]+", lines[-1]) else slug(lines[-1])


def _fit(purpose: Purpose, name: str, schema: Mapping[str, Any]) -> int:
    """How well a property suits a purpose: each word of its name counts three, of its description one."""
    named = set(parts(name))
    if not _TYPES[purpose] & types(schema) or named & _BOUNDS or schema.get("enum"):
        return 0
    vocabulary = _VOCABULARY[purpose]
    return 3 * len(vocabulary & named) + len(vocabulary & set(words(str(schema.get("description") or ""))))


def _number(value: float, schema: Mapping[str, Any], *, whole: bool) -> float:
    if isinstance(value, float):
        stated = _RANGE.search(str(schema.get("description") or ""))
        top = schema.get("maximum") or (float(stated[1]) if stated else 1)
        value = value * top if top in (5, 10, 100) else value
    low, high = schema.get("minimum"), schema.get("maximum")
    value = value if low is None else max(value, low)
    value = value if high is None else min(value, high)
    return round(value) if whole else value
