"""What a tool takes, as a pydantic model and as the JSON schema that models read."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, Field, PydanticUserError, TypeAdapter, create_model
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema, to_jsonable_python

from chiron_workers.errors import ToolRegistrationError
from chiron_workers.toolkit.coercion import ENUM_NAMES, REF, Location, Schema

# Keywords whose values are data of the tool, not schemas.
DATA_KEYWORDS = frozenset({"default", "enum", "const", "examples"})
# A title repeats the name; a discriminator points at definitions that are written out in place.
OMITTED_KEYWORDS = frozenset({"title", "discriminator", ENUM_NAMES})
# Of alternatives that a discriminator tells apart, with their types.
TAGS = {"(text)": "string", "(object)": "object"}
_UNDESCRIBABLE = (PydanticUserError, PydanticUndefinedAnnotation)


class _Generator(GenerateJsonSchema):
    """Keeps the names of enumerations, and the order of keywords outside definitions."""

    def enum_schema(self, schema: core_schema.EnumSchema) -> JsonSchemaValue:
        return super().enum_schema(schema) | {ENUM_NAMES: [member.name for member in schema["members"]]}

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        return value | {"$defs": super().sort(value["$defs"], "$defs")} if "$defs" in value else value


def model_of(function: Callable[..., Any]) -> type[BaseModel]:
    """The arguments that a model gives to a function: every parameter but a first one that is called `store`.

    The parameters are aliases of the fields, whose own names could be those of pydantic's methods.

    Raises:
        ToolRegistrationError: A parameter cannot be described to a model; the message names it.
    """
    name = function.__name__
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise ToolRegistrationError(f"{name}: its type hints cannot be read: {error}.", tool=name) from error
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name == "store":
        parameters = parameters[1:]
    fields: dict[str, Any] = {}
    for index, parameter in enumerate(parameters):
        if problem := _refusal(parameter):
            raise ToolRegistrationError(f"{name}: the parameter `{parameter}` {problem}.", tool=name)
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[f"argument_{index}"] = Annotated[hints[parameter.name], Field(alias=parameter.name)], default
    try:
        return create_model(name, **fields)
    except _UNDESCRIBABLE as error:
        own_hints = {parameter.name: hints[parameter.name] for parameter in parameters}
        raise _refused_hint(name, own_hints) from error


def _refusal(parameter: inspect.Parameter) -> str:
    if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        return "takes any arguments; name each one with its type, so that a model can be told of it"
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        return "is positional-only; tools are called with names"
    if parameter.annotation is inspect.Parameter.empty:
        return "has no type hint"
    if isinstance(parameter.default, FieldInfo):
        return "has a Field as its default; write Annotated[type, Field(...)] = default"
    return ""


def _refused_hint(tool: str, hints: Mapping[str, Any]) -> ToolRegistrationError:
    """The error that names the first of the hints that has no JSON schema."""
    for name, hint in hints.items():
        try:
            TypeAdapter(hint).json_schema()
        except _UNDESCRIBABLE as error:
            reason = str(error).splitlines()[0]
            sentence = f"{tool}: the hint of `{name}` cannot be described in JSON schema: {reason}"
            return ToolRegistrationError(sentence, tool=tool)
    return ToolRegistrationError(f"{tool}: its hints cannot be described in JSON schema.", tool=tool)


def full_schema(tool: str, model: type[BaseModel]) -> dict[str, Any]:
    """A model's schema with references and the names of enumerations. Raises ToolRegistrationError."""
    try:
        schema = model.model_json_schema(schema_generator=_Generator)
    except _UNDESCRIBABLE as error:
        fields = model.model_fields.items()
        hints = {field.alias or name: field.rebuild_annotation() for name, field in fields}
        raise _refused_hint(tool, hints) from error
    return dict(_opened(schema, schema)) | {"$defs": schema.get("$defs", {})}


def input_schema(
    full: Mapping[str, Any], model: type[BaseModel], descriptions: Mapping[str, str]
) -> dict[str, Any]:
    """The schema of a call's arguments: closed, and without references unless a type contains itself."""
    definitions = full["$defs"]
    reachable = {name: set(_references(definition)) for name, definition in definitions.items()}
    for middle in definitions:
        for names in reachable.values():
            names.update(reachable[middle] if middle in names else ())
    recursive = {name for name in definitions if name in reachable[name]}
    inlined = {name: definition for name, definition in definitions.items() if name not in recursive}
    properties = {}
    for name, field in model.model_fields.items():
        alias = field.alias or name
        schema = _inline(full["properties"][alias], inlined)
        default = {"default": schema.pop("default")} if "default" in schema else {}
        if field.default_factory:
            default = {"default": to_jsonable_python(field.get_default(call_default_factory=True))}
        words = descriptions.get(alias) or schema.pop("description", None)
        properties[alias] = schema | ({"description": words} if words else {}) | default
    complete: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required_names := full.get("required"):
        complete["required"] = required_names
    if recursive:
        complete["$defs"] = {name: _inline(definitions[name], inlined) for name in sorted(recursive)}
    return complete


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].removeprefix(REF)
        for key, value in node.items():
            if key not in DATA_KEYWORDS:
                yield from _references(value)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


def _inline(node: Any, definitions: Mapping[str, Any]) -> Any:
    """A part of a schema with these definitions in place of the references to them."""
    if isinstance(node, list):
        return [_inline(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    target = node.get("$ref", "").removeprefix(REF)
    if target in definitions:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _inline({**definitions[target], **beside}, definitions)
    schema: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            schema[key] = {name: _inline(inner, definitions) for name, inner in value.items()}
        elif key not in OMITTED_KEYWORDS:
            schema[key] = value if key in DATA_KEYWORDS else _inline(value, definitions)
    if "properties" in schema:
        schema["additionalProperties"] = False
    return schema


def part(schema: Schema, location: Location, root: Schema) -> tuple[int, Schema]:
    """The schema of a value inside a value, as far down as there is one: how many steps were taken, and it.

    It stops above alternatives, since which of them was meant is not known; unless a tag names it and more follows.
    """
    steps = 0
    current = _opened(schema, root)
    for step in location:
        if step in TAGS and steps + 1 < len(location):
            choices = [_opened(choice, root) for choice in current.get("oneOf", ())]
            named = [choice for choice in choices if choice.get("type") == TAGS[str(step)]]
            if len(named) != 1:
                break
            current = named[0]
            steps += 1
            continue
        if "anyOf" in current or "oneOf" in current:
            break
        inner = current.get("items") if isinstance(step, int) else current.get("properties", {}).get(step)
        if inner is None and isinstance(current.get("additionalProperties"), dict):
            inner = current["additionalProperties"]
        if not isinstance(inner, dict):
            break
        current = _opened(inner, root)
        steps += 1
    return steps, current


def _opened(schema: Schema, root: Schema) -> Schema:
    """Through a reference, and through `X or null` to X."""
    if "$ref" in schema:
        return _opened(root["$defs"][schema["$ref"].removeprefix(REF)], root)
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    return _opened(choices[0], root) if len(choices) == 1 else schema
