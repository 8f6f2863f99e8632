"""Arguments as models send them, fitted to a remote tool's schema and checked before they are sent."""

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from chiron_workers.errors import ToolValidationError
from chiron_workers.mcp_client.tools.validator import SchemaValidator
from chiron_workers.runs.entries import storable
from chiron_workers.toolkit.wording import expected, got, path

if TYPE_CHECKING:
    from jsonschema import ValidationError

PROBLEMS_MAX = 20
WORDS_MAX = 300
JSON_KINDS = {"array": "[", "object": "{"}


def checked(tool: str, validator: SchemaValidator, arguments: object) -> dict[str, Any]:
    """The arguments of a call, converted where the schema shows what was meant ("3" for 3, null for left out).

    Raises:
        ToolValidationError: One line for each problem; `field` is the first one's.
    """
    if isinstance(arguments, str):
        arguments = _opened(arguments or "{}", "{")
    if not isinstance(arguments, Mapping):
        raise ToolValidationError(
            f"arguments: must be an object (got {got(arguments)})", tool=tool, field="arguments"
        )
    if not validator.is_affordable(arguments):
        return _sendable(tool, dict(arguments))
    meant = _object(dict(arguments), validator.schema)
    problems: dict[str, str] = {}
    for error in validator.errors(meant):
        for place, sentence in _sentences(error):
            problems.setdefault(place, sentence)
        if len(problems) >= PROBLEMS_MAX:
            break
    if problems:
        lines = "\n".join(f"{place}: {sentence}" for place, sentence in problems.items())
        raise ToolValidationError(lines, tool=tool, field=next(iter(problems)))
    return _sendable(tool, meant)


def _sendable(tool: str, meant: dict[str, Any]) -> dict[str, Any]:
    # A text that was opened may hold what JSON's own notation can write and a message cannot carry.
    for name, value in meant.items():
        try:
            json.dumps({name: value}, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError):
            place = storable(name)
            sentence = "must be JSON of finite numbers and of text without halves of surrogate pairs"
            raise ToolValidationError(f"{place}: {sentence}", tool=tool, field=place) from None
    return meant


def fitted(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value a model likely meant; what cannot be placed comes back as it is, for the check to judge."""
    if isinstance(value, str) and isinstance(choices := schema.get("enum"), list):
        same = [one for one in choices if str(one).casefold() == value.strip().casefold()]
        return same[0] if len(same) == 1 and value not in choices else value
    for choice in schema.get("anyOf") or schema.get("oneOf") or ():
        changed = fitted(value, choice)
        if _is_of(changed, choice):
            return changed
    kinds = _kinds(schema)
    if any(_is_kind(value, kind) for kind in kinds):
        return _inside(value, schema)
    for kind in kinds:
        changed = _converted(value, kind)
        if changed is not value:
            return _inside(changed, schema)
    return value


def _is_of(value: Any, schema: Mapping[str, Any]) -> bool:
    kinds = _kinds(schema)
    if "enum" in schema or "const" in schema:
        return value in (schema.get("enum") or [schema.get("const")])
    return not kinds or any(_is_kind(value, kind) for kind in kinds)


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type")
    return [kind] if isinstance(kind, str) else list(kind or ())


def _is_kind(value: Any, kind: str) -> bool:
    match kind:
        case "integer" | "number":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number and (kind == "number" or float(value).is_integer())
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
    return value is None


def _converted(value: Any, kind: str) -> Any:
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    word = value.strip()
    try:
        match kind:
            case "integer":
                return int(word)
            case "number":
                number = float(word) if any(sign in word for sign in ".eE") else int(word)
                return number if math.isfinite(number) else value
            case "boolean":
                return {"true": True, "false": False}.get(word.casefold(), value)
            case "null":
                return None if word.casefold() in ("", "null") else value
    except ValueError:
        return value
    return _opened(value, JSON_KINDS[kind]) if kind in JSON_KINDS else value


def _inside(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        return [fitted(item, items) for item in value]
    return _object(value, schema) if isinstance(value, dict) else value


def _object(given: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    found: dict[str, Any] = {}
    for name, value in given.items():
        inner = properties.get(name)
        changed = fitted(value, inner) if inner is not None else value
        if changed is None and inner is not None and name not in required and not _is_of(None, inner):
            continue  # Models write null for what they leave out.
        found[name] = changed
    return found


def _opened(value: str, bracket: str) -> Any:
    if not value.lstrip().startswith(bracket):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _sentences(error: "ValidationError") -> Iterator[tuple[str, str]]:
    location, schema, given = tuple(error.absolute_path), error.schema, error.instance
    assert isinstance(schema, dict)
    properties = schema.get("properties", {})
    if error.validator == "required":
        for name in [name for name in schema["required"] if name not in given]:
            yield path((*location, name)), f"is required ({wanted(properties.get(name, {}))})"
    elif error.validator == "additionalProperties" and schema["additionalProperties"] is False:
        for name in [name for name in given if name not in properties]:
            near = difflib.get_close_matches(name, properties, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(properties) or 'none'}"
            yield path((*location, name)), f"is not known; {hint}"
    else:
        place = path(location) or "arguments"
        yield place, f"must be {wanted(schema)} (got {got(given)})"


def wanted(schema: Mapping[str, Any]) -> str:
    """What a value must be, in words."""
    kinds = _kinds(schema)
    if len(kinds) > 1 and "enum" not in schema:
        return " or ".join(expected({**schema, "type": kind}) for kind in kinds)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(dict.fromkeys(wanted(choice) for choice in choices))[:WORDS_MAX]
    if kinds or "enum" in schema or "const" in schema:
        return expected(schema)[:WORDS_MAX]
    return "what its description says"
