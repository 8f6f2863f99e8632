"""Generate the methods of the client from the acts, since the client imports nothing of the server."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import indent, wrap
from typing import Any, get_args

from client_types import WIDTH, Types, choice, filled, quoted
from pydantic.fields import FieldInfo

from chiron_api.acts.act import Act, Target
from chiron_api.acts.discovery import all_acts
from chiron_api.answers.basics import Answer

HEAD = '''"""A method for each act, and the types of its options. Written by `docs/generate.py` from `chiron_api.acts`."""
# ruff: noqa: I001, PLR0913  # a parameter for each option, and as many in a line as there is room for
# fmt: off
# Decorators make the methods:
# mypy: disable-error-code="empty-body"

'''
CLASS = '''

class ActMethods:
    """A method for each act."""
'''
LIBRARIES = {
    "collections.abc": ("Iterable", "Sequence"),
    "dataclasses": ("dataclass",),
    "datetime": ("datetime",),
    "decimal": ("Decimal",),
    "typing": ("Literal",),
}
OURS = {"chiron_api.client.requests": ("Pages", "Request"), "chiron_api.client.targets": ("Id",)}


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the client for one act, or for several that differ only in their target.

    Args:
        is_document: It returns the answer as a document in a format. A second method of the same acts returns the model.
    """

    name: str
    acts: tuple[Act[..., Any], ...]
    is_document: bool = False

    @property
    def act(self) -> Act[..., Any]:
        """The first act, which has the docstring."""
        return self.acts[0]

    @property
    def answer(self) -> type[Answer] | None:
        """The model of the answer."""
        return None if self.is_document else self.act.arguments.answer

    @property
    def has_pages(self) -> bool:
        """Whether the act answers with a list in pages."""
        return bool(self.act.arguments.answer and "next" in self.act.arguments.answer.model_fields)

    @property
    def is_list(self) -> bool:
        """Whether it iterates over all pages of a list."""
        return self.has_pages and not self.is_document

    @property
    def item(self) -> Any:
        """The type of the `items` that the method returns; None if it returns the answer itself."""
        if self.answer is None or not (self.is_list or list(self.answer.model_fields) == ["items"]):
            return None
        return get_args(self.answer.model_fields["items"].annotation)[0]

    @property
    def fields(self) -> dict[str, FieldInfo]:
        """The fields of the input that are parameters, required ones first."""
        fields = self.act.input_model.model_fields if self.act.input_model else {}
        left_out = {"format"} if self.act.arguments.is_document and not self.is_document else set()
        left_out |= {"after", "limit"} if self.has_pages else set()
        return dict(
            sorted(
                ((name, field) for name, field in fields.items() if name not in left_out),
                key=lambda entry: not entry[1].is_required(),
            )
        )


def methods() -> list[Method]:
    """Each method by its name."""
    by_name: dict[str, list[Act[..., Any]]] = defaultdict(list)
    for act in all_acts():
        by_name[act.client].append(act)
    of_acts = [Method(name, tuple(acts)) for name, acts in by_name.items()]
    documents = [
        Method(f"{method.name.rpartition('_')[2]}_document", method.acts, is_document=True)
        for method in of_acts
        if method.act.arguments.is_document
    ]
    return sorted([*of_acts, *documents], key=lambda method: method.name)


def module() -> str:
    """The text of the module."""
    types = Types()
    texts = [_text(method, types) for method in methods()]
    body = f"{types.declarations()}{CLASS}{''.join(texts)}"
    imports = [*_imports(LIBRARIES, body), "\n", *_imports(types.answers | OURS, body)]
    return f"{HEAD}{''.join(imports)}\n{body}"


def _imports(names: Mapping[str, Iterable[str]], text: str) -> Iterator[str]:
    for module, all_names in sorted(names.items()):
        if used := sorted(name for name in all_names if re.search(rf"\b{name}\b", text)):
            line = f"from {module} import {', '.join(used)}"
            yield line + "\n" if len(line) <= WIDTH else filled(f"from {module} import (", used, ")") + "\n"


def _text(method: Method, types: Types) -> str:
    answer, item = method.answer, method.item
    returned = "bytes" if method.is_document else types.hint(answer) if answer else "None"
    if item:
        returned = f"{'Iterable' if method.is_list else 'list'}[{types.hint(item)}]"
    lines = [
        f"@{'Pages' if method.is_list else 'Request'}({', '.join(_sending(method, types))})",
        filled(f"def {method.name}(", ["self", *_parameters(method, types)], f") -> {returned}:", 4),
        indent(_docstring(method), "    "),
    ]
    return "\n" + indent("\n".join(lines), "    ") + "\n"


def _sending(method: Method, types: Types) -> Iterator[str]:
    """The arguments of the decorator."""
    act = method.act
    route = act.route
    if len(method.acts) > 1:
        route = re.sub("/v1/[a-z]+/", "/v1/{folder}/", route)
    if act.arguments.is_document:
        route += f"?format={document_formats(method)[0] if method.is_document else 'json'}"
    yield quoted(route)
    if method.item and method.answer:
        yield types.hint(method.answer)
    if act.repeatable:
        yield "is_repeatable=True"
    named = {_parameter(name, field): field.alias or name for name, field in method.fields.items()}
    if names := {name: sent for name, sent in named.items() if name != sent}:
        yield f"names={quoted(names)}"


def _parameters(method: Method, types: Types) -> list[str]:
    """The parameters, with a star before keyword-only ones."""
    positional, named = _targets(method, types)
    fields = list(method.fields)
    for name, field in method.fields.items():
        parameter, hint = _parameter(name, field), _hint(name, field, method, types)
        if field.is_required():
            is_named = bool(positional) and (hint in ("bool", "datetime") or parameter == "subject")
        else:
            is_named = not (_target(field) or (fields == [name] and hint == "str"))
        text = f"{parameter}: {hint}{'' if field.is_required() else _default(name, field, hint, method)}"
        (named if named or is_named else positional).append(text)
    if method.act.arguments.takes_key:
        named.append("idempotency_key: str | None = None")
    return [*positional, *(["*", *named] if named else [])]


def _targets(method: Method, types: Types) -> tuple[list[str], list[str]]:
    """The positional and the keyword-only parameters for the target; of several targets the first is positional."""
    paths = [(act.target, act.arguments.path) for act in method.acts if act.arguments.path]
    texts = [f"{target.name}: {types.reference(target, path.annotation)}" for target, path in paths]
    if len(texts) > 1:
        texts = [f"{text} | None = None" for text in texts]
    return texts[:1], texts[1:]


def _hint(name: str, field: FieldInfo, method: Method, types: Types) -> str:
    if name == "format" and method.is_document:
        return choice(document_formats(method))
    target = _target(field)
    return (
        types.reference(target) if target else types.hint(field.rebuild_annotation()).removesuffix(" | None")
    )


def _default(name: str, field: FieldInfo, hint: str, method: Method) -> str:
    """The default of an option: none is sent, except for the format of a document."""
    if name == "format" and method.is_document:
        return f" = {quoted(document_formats(method)[0])}"
    return " = False" if hint == "bool" and field.default is False else " | None = None"


def document_formats(method: Method) -> list[str]:
    """The formats of a document, the default of the client first."""
    words = [word.value for word in method.fields["format"].annotation]  # type: ignore[union-attr]  # an enumeration
    first, *_ = (word for word in words if word != "json")
    # A list as JSON comes in pages, and a document is all of it.
    return [first, *(word for word in words if word != first and not (method.has_pages and word == "json"))]


def _target(field: FieldInfo) -> Target | None:
    """The target that a field identifies."""
    return next((rule for rule in field.metadata if isinstance(rule, Target)), None)


def _parameter(name: str, field: FieldInfo) -> str:
    target = _target(field)
    return target.name if target else name


def _docstring(method: Method) -> str:
    notes = ["Returns the document in a format, as bytes."] if method.is_document else []
    paragraphs = [" ".join(part.split()) for part in [*method.act.description.split("\n\n"), *notes]]
    lines = ["\n".join(wrap(part, WIDTH - 8)) for part in paragraphs]
    described = [
        "\n".join(wrap(f"{_parameter(name, field)}: {words}", WIDTH - 12, subsequent_indent="    "))
        for name, field in method.fields.items()
        if name != "format" and (words := option_words(field))
    ]
    if described:
        lines.append("Args:\n" + indent("\n".join(described), "    "))
    text = "\n\n".join(lines)
    return f'"""{text}\n"""' if "\n" in text or len(text) > WIDTH - 14 else f'"""{text}"""'


def option_words(field: FieldInfo) -> str:
    """The description of a field and its default on the server."""
    words, default = field.description or "", field.get_default(call_default_factory=True)
    if isinstance(default, str | int | float) and default and "efault" not in words:
        words = f"{words} Default: {default}.".strip()
    return words
