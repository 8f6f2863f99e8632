"""The options of a command as the input of an act: each field is an option, with its name, help, type and bounds."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar, Union, cast, get_args, get_origin

import typer
from annotated_types import Ge, Gt, Le
from pydantic import AwareDatetime, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from typer.models import ArgumentInfo, OptionInfo, ParameterInfo

from chiron_api.acts.inputs import Input, rules_of
from chiron_api.acts.moments import Side
from chiron_api.cli.input.money import parse_usd
from chiron_api.cli.input.times import parser_of
from chiron_workers.errors import UsageError

Model = TypeVar("Model", bound=Input)
Result = TypeVar("Result")
PARSERS: dict[object, tuple[Callable[[str], object], str]] = {
    Decimal: (parse_usd, "USD"),
    datetime: (parser_of(Side.PAST), "TIME"),
    AwareDatetime: (parser_of(Side.PAST), "TIME"),
}
# Our words for pydantic's types of errors; other types keep pydantic's words.
WORDS = {
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length:,} characters (got {length:,})",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length:,} entries (got {length:,})",
    "string_unicode": "must be text in UTF-8",
    "missing": "is missing",
    "greater_than_equal": "must be at least {ge:,}",
    "less_than_equal": "must be at most {le:,}",
    "greater_than": "must be above {gt:,}",
    "enum": "must be {expected}",
}


@dataclass(frozen=True)
class Draft(Generic[Model]):
    """An input that lacks what its command adds."""

    model: type[Model]
    values: Mapping[str, object] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def complete(self, **values: object) -> Model:
        """The input. Raises UsageError that names the options which cannot be used."""
        try:
            return self.model.model_validate({**self.values, **values})
        except ValidationError as error:
            details = error.errors(include_url=False)
            sentences = {self._name(entry): f"{self._name(entry)}{_words(entry)}." for entry in details}
            raise UsageError(" ".join(sentences.values())) from None

    def _name(self, problem: ErrorDetails) -> str:
        name = str(problem["loc"][0]) if problem["loc"] else "input"
        return self.names.get(name, _flag(name))


def takes_input(
    *,
    without: tuple[str, ...] = (),
    prefix: str = "",
    may_be_empty: tuple[str, ...] = ("model",),
    **named: str | ParameterInfo,
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Replace the parameter of a command that is an `Input`, or the `Draft` of one, by options for its fields.

    Args:
        without: Fields that are no options; they keep their default, or the command adds them to the draft.
        prefix: What the help of each option begins with.
        may_be_empty: Fields that are left out where the option is empty, as in `--model "$MODEL"`.
        named: Fields whose option has another name, or is what typer says of it where the field says nothing.
    """

    def decorate(command: Callable[..., Result]) -> Callable[..., Result]:
        signature = inspect.signature(command, eval_str=True)
        place, model, is_draft = next(filter(None, map(_input_of, signature.parameters.values())))
        fields = {name: field for name, field in model.model_fields.items() if name not in without}
        keys = {name: field.alias or name for name, field in fields.items()}
        options = {name: _parameter(name, field, named.get(name), prefix) for name, field in fields.items()}
        names = {keys[name]: _name(name, option) for name, option in options.items()}

        def arguments(values: dict[str, Any]) -> dict[str, Any]:
            texts = {name: values.pop(name) for name in keys}
            members = {
                keys[name]: value for name, value in texts.items() if value != "" or name not in may_be_empty
            }
            draft = Draft(model, members, names)
            return values | {place: draft if is_draft else draft.complete()}

        if inspect.iscoroutinefunction(command):

            @functools.wraps(command)
            async def call(**values: Any) -> Any:
                return await command(**arguments(values))

        else:

            @functools.wraps(command)
            def call(**values: Any) -> Any:
                return command(**arguments(values))

        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, other in signature.parameters.items()
            for parameter in (options.values() if name == place else [other])
        ]
        call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads it
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return cast("Callable[..., Result]", call)

    return decorate


def _input_of(parameter: inspect.Parameter) -> tuple[str, type[Input], bool] | None:
    is_draft = get_origin(parameter.annotation) is Draft
    model = get_args(parameter.annotation)[0] if is_draft else parameter.annotation
    is_input = isinstance(model, type) and issubclass(model, Input)
    return (parameter.name, model, is_draft) if is_input else None


def _parameter(
    name: str, field: FieldInfo, said: str | ParameterInfo | None, prefix: str
) -> inspect.Parameter:
    """What typer makes an option of."""
    kind = _type_of(field.annotation)
    info = said if isinstance(said, ParameterInfo) else typer.Option(said or _flag(name))
    if isinstance(info, OptionInfo) and info.default is ...:
        info.default = _flag(name)  # the first of its names; without one typer adds `--no-` to a flag
    info.help = info.help or field.description
    if prefix and info.help:
        info.help = f"{prefix}{info.help[0].lower()}{info.help[1:]}"
    if not info.parser and kind in PARSERS:
        info.parser, metavar = PARSERS[kind]
        info.metavar = info.metavar or metavar
    if name.endswith("_tokens"):
        info.metavar = "TOKENS"
    for rule in rules_of(field) if kind in (int, float) else ():
        match rule:
            case Ge(ge=bound):
                info.min = bound
            case Gt(gt=0):
                info.min = 1
            case Le(le=bound):
                info.max = bound
    default = inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def _type_of(annotation: Any) -> Any:
    """The type of a value, without its rules and without None."""
    if get_origin(annotation) is Annotated:
        return _type_of(get_args(annotation)[0])
    if get_origin(annotation) is list:
        return list[_type_of(get_args(annotation)[0])]  # type: ignore[misc]  # it is for typer
    if get_origin(annotation) in (Union, type(int | None)):
        return _type_of(next(choice for choice in get_args(annotation) if choice is not type(None)))
    return annotation


def _name(field: str, option: inspect.Parameter) -> str:
    info = get_args(option.annotation)[1]
    return (info.metavar or field).rstrip(".") if isinstance(info, ArgumentInfo) else str(info.default)


def _flag(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _words(problem: ErrorDetails) -> str:
    value = problem["input"]
    length = len(value) if isinstance(value, str | list) else 0
    if words := WORDS.get(problem["type"]):
        return f" {words.format(**{'length': length, **problem.get('ctx', {})})}"
    return f": {problem['msg'].removeprefix('Value error, ').rstrip('.')}"
