import contextlib
import difflib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from chiron_workers.errors import ToolValidationError
from chiron_workers.toolkit.coercion import Location, NotFiniteError, loosened
from chiron_workers.toolkit.schema import Parameter, part
from chiron_workers.toolkit.wording import expected, got, path

UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
# What the schema's words explain better than pydantic's message does; a validator's own message is kept.
SAID_BY_SCHEMA = frozenset(
    {
        "literal_error",
        "enum",
        "int_from_float",
        "none_required",
        "greater_than",
        "greater_than_equal",
        "less_than",
        "less_than_equal",
        "string_too_short",
        "string_too_long",
        "string_pattern_mismatch",
        "too_short",
        "too_long",
    }
)


def validated(
    tool: str,
    parameters: tuple[Parameter, ...],
    schema: dict[str, Any],
    arguments: object,
    *,
    meant: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The keyword arguments of a tool's function, converted to its types. What was left out stays out.

    Args:
        meant: Takes what was meant by each argument, before any conversion.

    Raises:
        ToolValidationError: One line for each problem, all of them; `field` is the first one's.
    """
    given = _as_object(tool, arguments)
    problems = {name: _unknown(name, parameters) for name in given if name not in schema["properties"]}
    values: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.name not in given:
            if parameter.required:
                words = expected(part(schema["properties"][parameter.name], (), schema)[1])
                problems[parameter.name] = f"is required ({words})"
        elif given[parameter.name] is None and not parameter.required and not parameter.nullable:
            continue  # Models write null for what they leave out.
        else:
            found, problem = _checked(parameter, given[parameter.name], schema, meant)
            problems |= problem
            values[parameter.name] = found
    if problems:
        lines = "\n".join(f"{place}: {sentence}" for place, sentence in problems.items())
        raise ToolValidationError(lines, tool=tool, field=next(iter(problems)))
    return values


def _as_object(tool: str, arguments: object) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):
            arguments = json.loads(arguments or "{}")
    if not isinstance(arguments, Mapping):
        raise ToolValidationError(
            f"arguments: must be an object (got {got(arguments)})", tool=tool, field="arguments"
        )
    return arguments


def _unknown(name: str, parameters: tuple[Parameter, ...]) -> str:
    names = [parameter.name for parameter in parameters]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"the tool takes {', '.join(names) or 'no arguments'}"
    return f"is not an argument; {hint}"


def _checked(
    parameter: Parameter, value: object, schema: dict[str, Any], meant_by: dict[str, Any] | None
) -> tuple[Any, dict[str, str]]:
    try:
        meant = loosened(value, parameter.hint, (parameter.name,))
        if meant_by is not None:
            meant_by[parameter.name] = meant
        return parameter.adapter.validate_python(meant, extra="forbid"), {}
    except NotFiniteError as error:
        return None, {path(error.location): f"must be a finite number (got {got(error.value)})"}
    except ValidationError as error:
        problems: dict[str, str] = {}
        for one in error.errors(include_url=False, include_context=False):
            location = (parameter.name, *one["loc"])
            place, sentence = _sentence(location, one["type"], one["msg"], one["input"], meant, schema)
            problems.setdefault(place, sentence)
        return None, problems


def _sentence(
    location: Location, kind: str, message: str, value: object, whole: object, schema: dict[str, Any]
) -> tuple[str, str]:
    steps, found = part(schema, location, schema)
    if kind in UNKNOWN and steps == len(location) - 1:
        return path(location), f"is not known; known are {', '.join(found.get('properties', {}))}"
    place = path(location[:steps])
    if kind == "missing" and steps == len(location):
        return place, f"is required ({expected(found)})"
    if steps < len(
        location
    ):  # Inside alternatives each member reports its own; what was given is shown once.
        value = _inside(whole, location[1:steps])
        return place, f"must be {expected(found)} (got {got(value)})"
    if kind in SAID_BY_SCHEMA or kind.endswith(("_type", "_parsing")):
        return place, f"must be {expected(found)} (got {got(value)})"
    return place, f"{message.removeprefix('Value error, ')} (got {got(value)})"


def _inside(value: Any, location: Location) -> object:
    for step in location:
        value = value[step]
    return value
