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


def validate_arguments(tool: str, validator: SchemaValidator, arguments: object) -> dict[str, Any]:
    """The arguments of a call, converted where the schema shows what was meant ("3" for 3, null for left out).

    Raises:
        ToolValidationError: One line for each problem; `field` is the first one's.
    """
    raw_arguments = require_object(tool, arguments)
    if not validator.is_affordable(raw_arguments):
        return _sendable(tool, raw_arguments)
    coerced_arguments = Coercion().members(raw_arguments, validator.schema)
    problems: dict[str, str] = {}
    for error in validator.errors(coerced_arguments):
        for place, sentence in _sentences(error):
            problems.setdefault(place, sentence)
        if len(problems) >= PROBLEMS_MAX:
            break
    if problems:
        raise refusal(tool, problems)
    return _sendable(tool, coerced_arguments)


def _sendable(tool: str, coerced_arguments: dict[str, Any]) -> dict[str, Any]:
    # JSON that came as a text may hold values that a message cannot carry, such as NaN.
    for name, value in coerced_arguments.items():
        try:
            json.dumps({name: value}, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            place = storable(name)
            sentence = "must be JSON of finite numbers and of text without halves of surrogate pairs"
            raise refusal(tool, {place: sentence}) from None
    return coerced_arguments


def _sentences(error: "ValidationError") -> Iterator[tuple[str, str]]:
    location, schema, instance = tuple(error.absolute_path), error.schema, error.instance
    assert isinstance(schema, dict)
    properties = schema.get("properties", {})
    if error.validator == "required":
        for name in [name for name in schema["required"] if name not in instance]:
            yield path_of((*location, name)), f"is required ({expectation(properties.get(name, {}))})"
    elif error.validator == "additionalProperties" and schema["additionalProperties"] is False:
        for name in [name for name in instance if name not in properties]:
            near = difflib.get_close_matches(name, properties, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(properties) or 'none'}"
            yield path_of((*location, name)), f"is not known; {hint}"
    else:
        place = path_of(location) or "arguments"
        yield place, f"must be {expectation(schema)} (got {shown_value(instance)})"


def expectation(schema: Mapping[str, Any]) -> str:
    """What a value must be, in words."""
    kinds = types_of(schema)
    if len(kinds) > 1 and "enum" not in schema:
        return " or ".join(expected_value({**schema, "type": kind}) for kind in kinds)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(dict.fromkeys(expectation(choice) for choice in choices))[:WORDS_MAX]
    if kinds or "enum" in schema or "const" in schema:
        return expected_value(schema)[:WORDS_MAX]
    return "what its description says"
