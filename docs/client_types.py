"""Generate the types of the client's options from those of the acts."""

import types
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from enum import Enum
from textwrap import wrap
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import AwareDatetime, WithJsonSchema

from chiron_api.acts.act import Target
from chiron_api.acts.inputs import Input
from chiron_api.answers.basics import Answer

SIMPLE = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
    datetime: "datetime",
    AwareDatetime: "datetime",
    UUID: "Id",
    Decimal: "Money",
}
WIDTH = 122


class Types:
    """Type hints as text, with the aliases and classes that they use. Ids, amounts and enumerations are wider than in inputs."""

    def __init__(self) -> None:
        self.answers: dict[str, set[str]] = defaultdict(set)  # by module
        self._aliases: dict[str, str] = {}
        self._classes: dict[str, str] = {}  # of what a body has in lists

    def declarations(self) -> str:
        """The aliases and classes that the hints use."""
        texts = [_assignment(name, text) for name, text in sorted(self._aliases.items())]
        return "".join([*texts, *(text for _, text in sorted(self._classes.items()))])

    def reference(self, target: Target, annotation: Any = UUID) -> str:
        """The hint for a target: its id, or an answer about it."""
        names = [self.hint(annotation), *map(self.hint, target.answers)]
        return (
            self._alias(f"{target.name.title()}Ref", " | ".join(names))
            if len(names) > 2
            else " | ".join(names)
        )

    def hint(self, annotation: Any) -> str:
        """A type as text."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            kind, *rules = arguments
            schemas = [rule.json_schema or {} for rule in rules if isinstance(rule, WithJsonSchema)]
            words = next((schema["enum"] for schema in schemas if "enum" in schema), None)
            return self._alias(kind.__name__, choice(words)) if words else self.hint(kind)
        if origin in (Union, types.UnionType):
            hints = [self.hint(argument) for argument in arguments if argument is not type(None)]
            return " | ".join(dict.fromkeys([*hints, *(["None"] if type(None) in arguments else [])]))
        if origin is Literal:
            kind = type(arguments[0])  # some members of an enumeration go by its name
            return (
                self._alias(kind.__name__, choice(arguments)) if issubclass(kind, Enum) else choice(arguments)
            )
        if origin in (list, tuple):
            return f"Sequence[{self.hint(arguments[0])}]"
        if annotation is Decimal:
            return self._alias("Money", "Decimal | float")
        return self._named(annotation) if isinstance(annotation, type) else SIMPLE[annotation]

    def _named(self, kind: type) -> str:
        if issubclass(kind, Enum):
            return self._alias(kind.__name__, choice(tuple(kind)))
        if issubclass(kind, Input):
            return self._class(kind)
        if issubclass(kind, Answer):
            self.answers[kind.__module__].add(kind.__name__)
            return kind.__name__
        return SIMPLE[kind]

    def _alias(self, name: str, text: str) -> str:
        self._aliases[name] = text
        return name

    def _class(self, model: type[Input]) -> str:
        """The dataclass that replaces in lists an input model."""
        name = model.__name__.removesuffix("Request")
        if name not in self._classes:
            members = "".join(
                f"    {member}: {self.hint(field.annotation)}\n"
                if field.is_required()
                else f"    {member}: {self.hint(field.annotation).removesuffix(' | None')} | None = None\n"
                for member, field in model.model_fields.items()
            )
            head = f'@dataclass(frozen=True, slots=True)\nclass {name}:\n    """{model.__doc__}"""\n'
            self._classes[name] = f"\n\n{head}\n{members}"
        return name


def choice(words: Sequence[str]) -> str:
    """The literal type of some words."""
    return f"Literal[{', '.join(quoted(str(word)) for word in words)}]"


def quoted(text: object) -> str:
    """The Python literal of a value, with double quotes."""
    return repr(text).replace("'", '"')


def filled(head: str, entries: Sequence[str], tail: str, indent: int = 0) -> str:
    """A call, a definition or a type, wrapped to the line length."""
    line = f"{head}{', '.join(entries)}{tail}"
    if len(line) <= WIDTH - indent:
        return line
    joined = ", ".join(entry.replace(" ", "\0") for entry in entries)
    lines = wrap(
        joined, WIDTH - indent, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )
    return "\n".join([head, *(line.replace("\0", " ") for line in lines), tail])


def _assignment(name: str, text: str) -> str:
    head, bracket, words = text.partition("[")
    return (
        filled(f"{name} = {head}[", words[:-1].split(", "), "]") + "\n" if bracket else f"{name} = {text}\n"
    )
