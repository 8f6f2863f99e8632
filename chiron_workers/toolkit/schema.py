import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation
from pydantic.fields import FieldInfo

from chiron_workers.errors import ToolRegistrationError

# Keywords whose values are data of the tool, not schemas.
DATA = frozenset({"default", "enum", "const", "examples"})
# A title repeats the name; a discriminator points at definitions that are written out in place.
DROPPED = frozenset({"title", "discriminator"})
REF = "#/$defs/"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool: what it may be, and how to check it."""

    name: str
    hint: Any
    adapter: TypeAdapter[Any]
    default: Any  # inspect.Parameter.empty: the argument is required
    nullable: bool

    @property
    def required(self) -> bool:
        """Whether a call without it is refused."""
        return self.default is inspect.Parameter.empty


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The arguments a model gives: every parameter but a first one that is called `store`.

    Raises:
        ToolRegistrationError: A parameter cannot be described to a model; the message names it.
    """
    name = function.__name__
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise ToolRegistrationError(f"{name}: its type hints cannot be read: {error}.", tool=name) from error
    declared = list(inspect.signature(function).parameters.values())
    if declared and declared[0].name == "store":
        declared = declared[1:]
    return tuple(_parameter(name, parameter, hints.get(parameter.name)) for parameter in declared)


def _parameter(tool: str, declared: inspect.Parameter, hint: Any) -> Parameter:
    problem = _refusal(declared)
    if problem:
        raise ToolRegistrationError(f"{tool}: the parameter `{declared}` {problem}.", tool=tool)
    return parameter(tool, declared.name, hint, declared.default)


def parameter(tool: str, name: str, hint: Any, default: Any) -> Parameter:
    """An argument with its hint; `default` is `inspect.Parameter.empty` where there is none.

    Raises:
        ToolRegistrationError: The hint cannot be described to a model.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        adapter.json_schema()
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        first_line = str(error).splitlines()[0]
        raise ToolRegistrationError(
            f"{tool}: the hint of `{name}` cannot be described in JSON schema: {first_line}", tool=tool
        ) from error
    return Parameter(name, hint, adapter, default, _takes_none(adapter))


def _refusal(declared: inspect.Parameter) -> str:
    if declared.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
        return "takes any arguments; name each one with its type, so that a model can be told of it"
    if declared.kind is inspect.Parameter.POSITIONAL_ONLY:
        return "is positional-only; tools are called with names"
    if declared.annotation is inspect.Parameter.empty:
        return "has no type hint"
    if isinstance(declared.default, FieldInfo):
        return "has a Field as its default; write Annotated[type, Field(...)] = default"
    return ""


def _takes_none(adapter: TypeAdapter[Any]) -> bool:
    try:
        adapter.validate_python(None)
    except ValidationError:
        return False
    return True


def input_schema(parameters: tuple[Parameter, ...], descriptions: Mapping[str, str]) -> dict[str, Any]:
    """The JSON schema of a call's arguments: closed, and without references unless a type contains itself."""
    schemas, shared = TypeAdapter.json_schemas(
        [(parameter.name, "validation", parameter.adapter) for parameter in parameters]
    )
    definitions = shared.get("$defs", {})
    recursive = {name for name in definitions if name in _reachable(definitions[name], definitions)}
    properties = {}
    for parameter in parameters:
        schema = _inlined(schemas[parameter.name, "validation"], definitions, recursive)
        if parameter.name in descriptions:
            schema["description"] = descriptions[parameter.name]
        if not parameter.required:
            schema["default"] = parameter.adapter.dump_python(parameter.default, mode="json", warnings=False)
        properties[parameter.name] = schema
    complete: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [parameter.name for parameter in parameters if parameter.required]:
        complete["required"] = required
    if recursive:
        complete["$defs"] = {
            name: _inlined(definitions[name], definitions, recursive) for name in sorted(recursive)
        }
    return complete


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].removeprefix(REF)
        for key, value in node.items():
            if key not in DATA:
                yield from _references(value)
    elif isinstance(node, list):
        for item in node:
            yield from _references(item)


def _reachable(node: Any, definitions: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    waiting = list(_references(node))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_references(definitions[name]))
    return found


def _inlined(node: dict[str, Any], definitions: Mapping[str, Any], recursive: set[str]) -> dict[str, Any]:
    def inline(value: Any) -> Any:
        if isinstance(value, list):
            return [inline(item) for item in value]
        return _inlined(value, definitions, recursive) if isinstance(value, dict) else value

    target = node.get("$ref", "").removeprefix(REF)
    if target and target not in recursive:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _inlined({**definitions[target], **beside}, definitions, recursive)
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":
            result[key] = {name: inline(schema) for name, schema in value.items()}
        elif key not in DROPPED:
            result[key] = value if key in DATA else inline(value)
    if "properties" in result:
        result["additionalProperties"] = False
    return result


def part(
    schema: dict[str, Any], location: tuple[int | str, ...], root: dict[str, Any]
) -> tuple[int, dict[str, Any]]:
    """The schema of a value inside a value, as far down as there is one: how many steps were taken, and it.

    It stops above alternatives, since which of them was meant is not known.
    """
    steps = 0
    current = _opened(schema, root)
    for step in location:
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


def _opened(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Through a reference, and through `X or null` to X."""
    if "$ref" in schema:
        return _opened(root["$defs"][schema["$ref"].removeprefix(REF)], root)
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    return _opened(choices[0], root) if len(choices) == 1 else schema
