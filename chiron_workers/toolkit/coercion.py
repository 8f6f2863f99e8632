"""Values as models send them, brought nearer to a JSON schema before anything judges them."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ENUM_NAMES = "x-enum-names"  # beside `enum`: other words for the same choices, in the same order
THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")
WHOLE = re.compile(r"\.0*$")  # what a whole number may have after its digits
REF = "#/$defs/"
Schema = Mapping[str, Any]
Location = tuple[int | str, ...]

_JSON_TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
_BRACKETS = {"array": "[", "object": "{"}


@dataclass(slots=True)
class Coercion:
    """Converts what a schema shows to be meant otherwise: "1,000", JSON in a string, null for what is left out.

    What cannot be placed stays as it is, for the validation to judge.

    Attributes:
        definitions: What references in the schema lead to.
        reads_null: An empty string or "null" means null wherever null is allowed, also where a string is.
        not_finite: Fills with the numbers that JSON has no word for, by their place.
    """

    definitions: Schema = field(default_factory=dict)
    reads_null: bool = False
    not_finite: dict[Location, object] = field(default_factory=dict)

    def value(self, value: Any, schema: Schema, location: Location = ()) -> Any:
        """The value that was likely meant."""
        schema = self._resolved(schema)
        for part in schema.get("allOf", ()):
            value = self.value(value, part, location)
        if choices := schema.get("anyOf") or schema.get("oneOf"):
            value = self._alternative(value, choices, location)
        if "enum" in schema or "const" in schema:
            return _choice(value, schema)
        types = types_of(schema)
        if "number" in types and _is_not_finite(value):
            self.not_finite[location] = value
        if not any(_is_type(value, name) for name in types):
            conversions = (_converted(value, name, schema) for name in types)
            value = next((result for result in conversions if result is not value), value)
        if isinstance(value, float) and value.is_integer() and "integer" in types:
            return int(value)
        if isinstance(value, list):
            return self._items(value, schema, location)
        return self.members(value, schema, location) if isinstance(value, dict) else value

    def members(self, members: Mapping[str, Any], schema: Schema, location: Location = ()) -> dict[str, Any]:
        """The members of an object; null for one that may be left out, and may not be null, leaves it out."""
        properties, required_names = schema.get("properties", {}), schema.get("required", ())
        values: dict[str, Any] = {}
        for name, value in members.items():
            inner = properties.get(name, schema.get("additionalProperties"))
            if not isinstance(inner, Mapping):
                values[name] = value
                continue
            coerced_value = self.value(value, inner, (*location, name))
            is_optional = name in properties and name not in required_names
            if coerced_value is not None or not is_optional or self._allows(None, inner):
                values[name] = coerced_value
        return values

    def _items(self, items: list[Any], schema: Schema, location: Location) -> list[Any]:
        prefix_schemas, item_schema = schema.get("prefixItems", ()), schema.get("items")
        schemas = [*prefix_schemas, *[item_schema] * (len(items) - len(prefix_schemas))]
        return [
            self.value(item, inner, (*location, index)) if isinstance(inner, Mapping) else item
            for index, (item, inner) in enumerate(zip(items, schemas, strict=False))
        ]

    def _alternative(self, value: Any, choices: Sequence[Schema], location: Location) -> Any:
        is_blank = isinstance(value, str) and value.strip().casefold() in ("", "null")
        if is_blank and self.reads_null and any(choice.get("type") == "null" for choice in choices):
            return None
        allowed = [choice for choice in choices if self._allows(value, choice)]
        coerced_values = [(self.value(value, choice, location), choice) for choice in allowed or choices]
        usable = [(result, choice) for result, choice in coerced_values if self._allows(result, choice)]
        # Of several kinds of object, the first that the value fits.
        fitting = next((result for result, choice in usable if self._fits(result, choice)), None)
        return fitting if fitting is not None else usable[0][0] if usable else value

    def _allows(self, value: Any, schema: Schema) -> bool:
        """Whether a value is of a type, or one of the choices, that the schema names."""
        schema = self._resolved(schema)
        if choices := schema.get("anyOf") or schema.get("oneOf"):
            return any(self._allows(value, choice) for choice in choices)
        if "enum" in schema or "const" in schema:
            return value in (schema.get("enum") or [schema.get("const")])
        types = types_of(schema)
        return not types or any(_is_type(value, name) for name in types)

    def _fits(self, value: Any, schema: Schema) -> bool:
        """Whether a value has the types, choices and members that the schema names, at every depth."""
        schema = self._resolved(schema)
        if not (
            self._allows(value, schema) and all(self._fits(value, part) for part in schema.get("allOf", ()))
        ):
            return False
        if choices := schema.get("anyOf") or schema.get("oneOf"):
            return any(self._fits(value, choice) for choice in choices)
        if isinstance(value, list):
            items = schema.get("items")
            return not isinstance(items, Mapping) or all(self._fits(item, items) for item in value)
        return not isinstance(value, dict) or self._has_members(value, schema)

    def _has_members(self, members: Mapping[str, Any], schema: Schema) -> bool:
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        if others is False and members.keys() - properties.keys():
            return False
        schemas = ((value, properties.get(name, others)) for name, value in members.items())
        is_complete = all(name in members for name in schema.get("required", ()))
        return is_complete and all(
            self._fits(value, inner) for value, inner in schemas if isinstance(inner, Mapping)
        )

    def _resolved(self, schema: Schema) -> Schema:
        while (name := schema.get("$ref", "").removeprefix(REF)) in self.definitions:
            schema = self.definitions[name]
        return schema


def types_of(schema: Schema) -> list[str]:
    """The JSON types that a schema names itself."""
    types = schema.get("type")
    return [types] if isinstance(types, str) else list(types or ())


def opened(value: Any, bracket: str) -> Any:
    """The JSON in a string that begins with this bracket; anything else as it is."""
    if not isinstance(value, str) or not value.lstrip().startswith(bracket):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _choice(value: Any, schema: Schema) -> Any:
    choices = schema.get("enum") or [schema.get("const")]
    if value in choices or isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    names = schema.get(ENUM_NAMES, ())
    words = [*zip(map(str, choices), choices, strict=True), *zip(names, choices, strict=False)]
    word = str(value).strip().casefold()
    matches = {repr(choice): choice for text, choice in words if text.casefold() == word}
    return next(iter(matches.values())) if len(matches) == 1 else value


def _is_type(value: Any, name: str) -> bool:
    if name in ("integer", "number"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and (name == "number" or isinstance(value, int) or value.is_integer())
    return isinstance(value, _JSON_TYPES.get(name, ()))


def _is_not_finite(value: Any) -> bool:
    try:
        return isinstance(value, str | float) and not math.isfinite(float(value))
    except ValueError:
        return False


def _converted(value: Any, name: str, schema: Schema) -> Any:
    """The value as this type, or as it is where it cannot be one."""
    if name == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return value if "format" in schema else str(value)
    if not isinstance(value, str):
        return value
    word = value.strip().casefold()
    number = word.replace(",", "") if THOUSANDS.fullmatch(word) else word
    if name in {"integer", "number"} and not number.isascii():
        return value  # Python would read digits of other scripts, which no schema means.
    try:
        match name:
            case "integer":
                return int(WHOLE.sub("", number))
            case "number":
                is_whole = not any(sign in number for sign in ".en")
                return int(number) if is_whole else value if _is_not_finite(number) else float(number)
            case "boolean":
                return {"true": True, "false": False}.get(word, value)
            case "null":
                return None if word in ("", "null") else value
    except ValueError:
        return value
    return opened(value, _BRACKETS[name]) if name in _BRACKETS else value
