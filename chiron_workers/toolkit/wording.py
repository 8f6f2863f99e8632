import json
from collections.abc import Mapping
from typing import Any

GOT_CHARS = 80

WORDS = {
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
FORMATS = {
    "uuid": "a UUID",
    "date": "a date such as 2026-01-31",
    "date-time": "a date and time such as 2026-01-31T12:00:00Z",
    "uri": "an absolute URL",
}


def expected_value(schema: Mapping[str, Any]) -> str:
    """What a value must be, in words: `a whole number from 1 to 50`, `one of hybrid|vector|keyword`."""
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        # Of a number that may come as text, or may be left out, the number says all that is needed.
        choices = [choice for choice in choices if "pattern" not in choice] or choices
        return " or ".join(dict.fromkeys(expected_value(choice) for choice in choices))
    if "enum" in schema:
        return "one of " + "|".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    kind = schema.get("type", "object")
    if kind == "string":
        return _string(schema)
    if kind == "array":
        return f"a list{_count(schema, 'minItems', 'maxItems', 'item')}"
    return WORDS[kind] + (_bounds(schema) if kind in ("integer", "number") else "")


def _string(schema: Mapping[str, Any]) -> str:
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    pattern = f" that matches {schema['pattern']}" if "pattern" in schema else ""
    return f"a string{_count(schema, 'minLength', 'maxLength', 'character')}{pattern}"


def _count(schema: Mapping[str, Any], minimum_key: str, maximum_key: str, noun: str) -> str:
    minimum, maximum = schema.get(minimum_key), schema.get(maximum_key)
    if minimum and minimum == maximum:
        return f" of {minimum} {noun}{'s' if minimum > 1 else ''}"
    if minimum and maximum is not None:
        return f" of {minimum} to {maximum} {noun}s"
    if minimum:
        return f" of at least {minimum} {noun}{'s' if minimum > 1 else ''}"
    return f" of at most {maximum} {noun}s" if maximum is not None else ""


def _bounds(schema: Mapping[str, Any]) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f" from {schema['minimum']} to {schema['maximum']}"
    limits = {
        "minimum": "at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
    }
    phrases = [f"{word} {schema[key]}" for key, word in limits.items() if key in schema]
    return f" {' and '.join(phrases)}" if phrases else ""


def shown_value(value: object) -> str:
    """A value as an error line shows it, cut to a length."""
    text = (
        repr(value[:GOT_CHARS])
        if isinstance(value, str)
        else json.dumps(value, default=repr, ensure_ascii=False)
    )
    return text if len(text) <= GOT_CHARS else text[: GOT_CHARS - 3] + "..."


def path_of(location: tuple[int | str, ...]) -> str:
    """A place inside the arguments as people write it: `nodes[2].title`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location).lstrip(".")
