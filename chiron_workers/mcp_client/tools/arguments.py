"""Arguments as models send them, fitted to a remote tool's schema and checked before they are sent."""

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from chiron_workers.mcp_client.tools.validator import SchemaValidator
from chiron_workers.runs.entries import storable
from chiron_workers.toolkit.arguments import refusal, require_object
from chiron_workers.toolkit.coercion import Coercion, types_of
from chiron_workers.toolkit.wording import expected_value, path_of, shown_value

if TYPE_CHECKING:
    from jsonschema import ValidationError

PROBLEMS_MAX = 20
WORDS_MAX = 300


def checked(tool: str, validator: SchemaValidator, arguments: object) -> dict[str, Any]:
    """The arguments of a call, converted where the schema shows what was meant ("3" for 3, null for left out).

    Raises:
        ToolValidationError: One line for each problem; `field` is the first one's.
    """
    sent = require_object(tool, arguments)
    if not validator.is_affordable(sent):
        return _sendable(tool, sent)
    meant = Coercion().members(sent, validator.schema)
    problems: dict[str, str] = {}
    for error in validator.errors(meant):
        for place, sentence in _sentences(error):
            problems.setdefault(place, sentence)
        if len(problems) >= PROBLEMS_MAX:
            break
    if problems:
        raise refusal(tool, problems)
    return _sendable(tool, meant)


def _sendable(tool: str, meant: dict[str, Any]) -> dict[str, Any]:
    # A text that was opened may hold what JSON's own notation can write and a message cannot carry.
    for name, value in meant.items():
        try:
            json.dumps({name: value}, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            place = storable(name)
            sentence = "must be JSON of finite numbers and of text without halves of surrogate pairs"
            raise refusal(tool, {place: sentence}) from None
    return meant


def _sentences(error: "ValidationError") -> Iterator[tuple[str, str]]:
    location, schema, given = tuple(error.absolute_path), error.schema, error.instance
    assert isinstance(schema, dict)
    properties = schema.get("properties", {})
    if error.validator == "required":
        for name in [name for name in schema["required"] if name not in given]:
            yield path_of((*location, name)), f"is required ({wanted(properties.get(name, {}))})"
    elif error.validator == "additionalProperties" and schema["additionalProperties"] is False:
        for name in [name for name in given if name not in properties]:
            near = difflib.get_close_matches(name, properties, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(properties) or 'none'}"
            yield path_of((*location, name)), f"is not known; {hint}"
    else:
        place = path_of(location) or "arguments"
        yield place, f"must be {wanted(schema)} (got {shown_value(given)})"


def wanted(schema: Mapping[str, Any]) -> str:
    """What a value must be, in words."""
    kinds = types_of(schema)
    if len(kinds) > 1 and "enum" not in schema:
        return " or ".join(expected_value({**schema, "type": kind}) for kind in kinds)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(dict.fromkeys(wanted(choice) for choice in choices))[:WORDS_MAX]
    if kinds or "enum" in schema or "const" in schema:
        return expected_value(schema)[:WORDS_MAX]
    return "what its description says"
