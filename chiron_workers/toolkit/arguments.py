import difflib
from collections.abc import Mapping
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError

from chiron_workers.errors import ToolValidationError
from chiron_workers.toolkit.coercion import Coercion, Location, opened
from chiron_workers.toolkit.schema import TAGS, full_schema, input_schema, part
from chiron_workers.toolkit.wording import expected_value, path_of, shown_value

UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
# What the schema's words explain better than pydantic's message does; a validator's own message is kept.
EXPLAINED_BY_SCHEMA = frozenset(
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

VALUES_MAX = 20_000  # in the arguments of one call: a curriculum of 2,000 nodes has fewer
PROBLEMS_MAX = 50  # that are told at once; there is a line for each


class Arguments:
    """What a tool takes: `schema` is what models read, `validate` checks what they send.

    Args:
        descriptions: Of arguments that the model does not describe, by name.

    Raises:
        ToolRegistrationError: A field cannot be described in JSON schema.
    """

    def __init__(
        self, tool: str, model: type[BaseModel], descriptions: Mapping[str, str] | None = None
    ) -> None:
        self._tool, self._model = tool, model
        self._full_schema = full_schema(tool, model)
        self.schema = input_schema(self._full_schema, model, descriptions or {})

    def validate(self, arguments: object) -> BaseModel:
        """Arguments as a model sent them, as the pydantic model.

        Raises:
            ToolValidationError: One line for each problem, of at most 50; `field` is the first one's.
        """
        members = require_object(self._tool, arguments)
        if not has_values_at_most(members, VALUES_MAX):
            raise refusal(
                self._tool, {"arguments": f"have more than {VALUES_MAX:,} values; send fewer at a time"}
            )
        coercion = Coercion(self._full_schema["$defs"], reads_null=True)
        values = coercion.members(members, self._full_schema)
        problems = {
            location: f"must be a finite number (got {shown_value(value)})"
            for location, value in islice(coercion.not_finite.items(), PROBLEMS_MAX)
        }
        names = list(self.schema["properties"])
        not_finite = {location[0] for location in coercion.not_finite}
        try:
            model = self._model.model_validate(values, extra="forbid", by_alias=True, by_name=False)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_context=False)[:PROBLEMS_MAX]:
                if detail["loc"][:1] and detail["loc"][0] in not_finite:
                    continue
                location, sentence = self._sentence(
                    detail["loc"], detail["type"], detail["msg"], members, values
                )
                problems.setdefault(location, sentence)
        if problems:  # unknown arguments first, then in the order of the schema
            places = sorted(
                problems, key=lambda place: names.index(place[0]) if {*place[:1]} & {*names} else -1
            )
            raise refusal(self._tool, {path_of(place): problems[place] for place in places})
        return model

    def _sentence(
        self, location: Location, kind: str, message: str, arguments: object, values: object
    ) -> tuple[Location, str]:
        steps, schema = part(self.schema, location, self.schema)
        steps -= sum(step in TAGS for step in location[:steps])
        location = tuple(step for step in location if step not in TAGS)
        if kind in UNKNOWN and len(location) == 1:
            return location, _unknown_argument(str(location[0]), list(self.schema["properties"]))
        if kind in UNKNOWN and steps == len(location) - 1:
            return location, f"is not known; known are {', '.join(schema.get('properties', {}))}"
        if kind == "missing" and steps == len(location):
            return location, f"is required ({expected_value(schema)})"
        value = shown_value(_inside(arguments, values, location[:steps]))
        # Inside alternatives each member reports its own problem; what was sent is shown once.
        is_below = steps < len(location)
        if is_below or kind in EXPLAINED_BY_SCHEMA or kind.endswith(("_type", "_parsing")):
            return location[:steps], f"must be {expected_value(schema)} (got {value})"
        words = message.removeprefix("Value error, ")
        return location, f"{words} (got {value})" if location else words


def has_values_at_most(value: object, values_max: int) -> bool:
    """Whether a JSON value holds no more values than that, itself and those of JSON in its texts included."""
    values, count = [value], 0
    while values:
        value = values.pop()
        count += 1
        if isinstance(value, Mapping):
            values.extend(value.values())
        elif isinstance(value, list):
            values.extend(value)
        elif isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
            count += value.count(",")
        if count + len(values) > values_max:
            return False
    return True


def require_object(tool: str, arguments: object) -> dict[str, Any]:
    """The arguments of a call, also where they are JSON in a string. Raises ToolValidationError."""
    value = opened(arguments or "{}" if isinstance(arguments, str) else arguments, "{")
    if not isinstance(value, Mapping):
        raise refusal(tool, {"arguments": f"must be an object (got {shown_value(value)})"})
    return dict(value)


def refusal(tool: str, problems: Mapping[str, str]) -> ToolValidationError:
    """The error of a call with a sentence for each place that is wrong."""
    lines = "\n".join(f"{place or 'arguments'}: {sentence}" for place, sentence in problems.items())
    return ToolValidationError(lines, tool=tool, field=next(iter(problems)) or "arguments")


def _unknown_argument(name: str, names: list[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"the tool takes {', '.join(names) or 'no arguments'}"
    return f"is not an argument; {hint}"


def _inside(arguments: Any, values: Any, location: Location) -> object:
    """The value at a place as it was sent; as it was read, where it came as JSON inside a string."""
    for step in location:
        values = values[step]
        arguments = arguments[step] if isinstance(arguments, dict | list) else values  # type: ignore[index]  # a list has numbers
    return arguments
