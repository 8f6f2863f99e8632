"""The calls and methods of the client, written from the acts: the client imports nothing of the server."""

import re
import subprocess
import sys
import types
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from enum import Enum
from textwrap import indent, wrap
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import AwareDatetime, BaseModel
from pydantic.fields import FieldInfo

from chiron_api.acts.act import Act, Target
from chiron_api.acts.discovery import all_acts
from chiron_api.acts.inputs import Input
from chiron_api.answers.basics import Answer

WIDTH = 122
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
LIBRARIES = {
    "collections.abc": ("Sequence",),
    "dataclasses": ("dataclass",),
    "datetime": ("datetime",),
    "decimal": ("Decimal",),
    "typing": ("Literal",),
}
OURS = {
    "chiron_api.client.call": ("Call", "Listing", "entries", "fields", "get", "key_header", "pages"),
    "chiron_api.client.targets": ("Id", "id_of", "target_of"),
}
CALLS_HEAD = '''"""What can be asked of the API: the acts as requests. Written by `docs/generate.py` from `chiron_api.acts`."""
# ruff: noqa: PLR0913  # a parameter for each option
'''
METHODS_HEAD = '''"""The methods of both clients. Written by `docs/generate.py` from `chiron_api.acts`."""

from chiron_api.client import derived_calls as calls
from chiron_api.client.descriptors import {names}


class ActMethods:
    """A method for each act."""

'''


def calls_module() -> str:
    """The module with a function for each call."""
    source = _Source()
    functions = "\n\n".join(source.function(name, acts) for name, acts in _methods())
    return _formatted(CALLS_HEAD + source.head(functions) + functions)


def methods_module() -> str:
    """The module with the methods that send these calls."""
    lines = [
        f"    {name} = {'ListMethod' if name == acts[0].client and _is_list(acts[0]) else 'Method'}(calls.{name})\n"
        for name, acts in _methods()
    ]
    names = [name for name in ("ListMethod", "Method") if f" {name}(" in "".join(lines)]
    return _formatted(METHODS_HEAD.format(names=", ".join(names)) + "".join(lines))


def _by_name() -> dict[str, list[Act[..., Any]]]:
    """The acts of each method, in the order of their paths' targets."""
    by_name = defaultdict(list)
    for act in all_acts():
        by_name[act.client].append(act)
    return dict(by_name)


def _methods() -> list[tuple[str, list[Act[..., Any]]]]:
    """Each method by its name. What has formats is a model by one of them, and by another a document as it is saved."""
    by_name = _by_name()
    documents = {
        f"{name.rpartition('_')[2]}_document": acts
        for name, acts in by_name.items()
        if acts[0].arguments.is_document
    }
    return sorted((by_name | documents).items())


def _formatted(source: str) -> str:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--stdin-filename",
        "chiron_api/client/derived_calls.py",
        "-",
    ]
    return subprocess.run(command, input=source, text=True, capture_output=True, check=True).stdout


class _Source:
    """The text of functions, and what it needs."""

    def __init__(self) -> None:
        self._answers: dict[str, set[str]] = defaultdict(set)
        self._words: dict[str, str] = {}  # aliases of enumerations
        self._classes: dict[str, str] = {}  # of what a body has in lists

    def head(self, functions: str) -> str:
        """The imports that functions need, the words of enumerations, and the classes of what is in lists."""
        aliases = "".join(f"{name} = {words}\n" for name, words in sorted(self._words.items()))
        aliases += "".join(source for _, source in sorted(self._classes.items()))
        text = f"{aliases}{functions}{'Decimal' if 'Money' in functions else ''}"
        answers = [
            f"from {module} import {', '.join(sorted(names))}\n"
            for module, names in sorted(self._answers.items())
        ]
        imports = [*_used(LIBRARIES, text), "\n", *answers, *_used(OURS, text)]
        money = "Money = Decimal | float\n" if "Money" in text else ""
        return f"{''.join(imports)}\n{money}{aliases}\n\n"

    def function(self, name: str, acts: Sequence[Act[..., Any]]) -> str:
        """The function that makes the call of one act, or of several that differ by what they are done to."""
        act = acts[0]
        if name != act.client:
            return self._document(name, acts)
        parameters = [*self._targets(acts), *self._options(act)]
        if act.arguments.takes_key:
            parameters.append("idempotency_key: str | None = None")
        text = "\n".join([*self._target_lines(acts), f"    return {self._call(act, len(acts) > 1)}"])
        signature = ", ".join(parameters)
        return f"def {name}({signature}) -> {self._result(act)}:\n{indent(self._docstring(acts), '    ')}\n{text}\n"

    def _document(self, name: str, acts: Sequence[Act[..., Any]]) -> str:
        """The function that makes the call of a document as it is saved; of a list that is all of its pages."""
        act = acts[0]
        assert act.input_model
        inputs = {
            name: field for name, field in act.input_model.model_fields.items() if name not in _paging(act)
        }
        words = [word.value for word in inputs["format"].annotation]  # type: ignore[union-attr]  # an enumeration
        if _is_list(act):
            words.remove("json")
        first = next(word for word in words if word != "json")
        options = [
            f"format: Literal[{', '.join(map(repr, words))}] = {first!r}"
            if name == "format"
            else f"{name}: {self._optional(field)}"
            for name, field in inputs.items()
        ]
        parameters = [*self._targets(acts), *(["*"] if len(acts) == 1 else []), *options]
        query = ", ".join(f"{name}={name}" for name in inputs)
        arguments = [*self._place(act, "bytes", len(acts) > 1), f"query=fields({query})"]
        docstring = self._docstring(acts, "As a document of a format, as it would be saved.")
        text = "\n".join([*self._target_lines(acts), f"    return get({', '.join(arguments)})"])
        return f"def {name}({', '.join(parameters)}) -> Call[bytes]:\n{indent(docstring, '    ')}\n{text}\n"

    def _targets(self, acts: Sequence[Act[..., Any]]) -> Iterator[str]:
        if not acts[0].arguments.path:
            return
        for number, act in enumerate(acts):
            hint = self._reference(act.target, act.arguments.path.annotation)  # type: ignore[union-attr]  # of all or none
            if len(acts) == 1:
                yield f"{act.target.name}: {hint}"
            else:
                if number == 1:
                    yield "*"
                yield f"{act.target.name}: {hint} | None = None"

    def _reference(self, target: Target, annotation: Any) -> str:
        plain = "Id" if annotation is UUID else "str"
        return " | ".join([plain, *(self._answer(model) for model in target.answers)])

    def _options(self, act: Act[..., Any]) -> Iterator[str]:
        model = act.input_model
        if model is None:
            return
        fields = {
            name: field for name, field in model.model_fields.items() if name not in _client_options(act)
        }
        required = [name for name, field in fields.items() if field.is_required()]
        optional = [name for name in fields if name not in required]
        for name in required:
            if target := _target(fields[name]):
                yield f"{target.name}: {self._reference(target, UUID)}"
            else:
                yield f"{name}: {self.hint(fields[name].rebuild_annotation())}"
        things = {name: target for name in optional if (target := _target(fields[name]))}
        for name, target in things.items():
            yield f"{target.name}: {self._reference(target, UUID)} | None = None"
            optional.remove(name)
        # One option alone may be given without its name; of an act on several things each has a name already.
        if optional and (required or things or len(optional) > 1) and not self._is_merged(act):
            yield "*"
        yield from (f"{name}: {self._optional(fields[name])}" for name in optional)

    def _optional(self, field: FieldInfo) -> str:
        """The hint and the default of a field that may be left out."""
        default = field.get_default(call_default_factory=True)
        hint = self.hint(field.rebuild_annotation())
        if isinstance(default, Enum):
            default = default.value
        if default is None or not isinstance(default, bool | str | int | float):
            return f"{hint if hint.endswith('| None') else f'{hint} | None'} = None"
        return f"{hint} = {default!r}"

    def _is_merged(self, act: Act[..., Any]) -> bool:
        return len(_by_name()[act.client]) > 1

    def _target_lines(self, acts: Sequence[Act[..., Any]]) -> Iterator[str]:
        if len(acts) > 1:
            choices = ", ".join(act.target.name for act in acts)
            yield f"    folder, target = target_of({choices})"

    def _place(self, act: Act[..., Any], model: str, is_merged: bool) -> list[str]:
        """The first arguments of a call: the path, how the answer is read, and what the path names."""
        _, _, path = act.route.partition(" ")
        arguments = [repr(path), model]
        if is_merged:
            arguments[0] = (
                'f"' + path.replace("{id}", "{{id}}").replace(f"/{_folder(act)}/", "/{folder}/") + '"'
            )
            arguments.append("target=target")
        elif act.arguments.path:
            arguments.append(f"target=id_of({act.target.name!r}, {act.target.name})")
        return arguments

    def _call(self, act: Act[..., Any], is_merged: bool) -> str:
        method, _, _ = act.route.partition(" ")
        model = act.arguments.answer
        arguments = self._place(act, self._answer(model) if model else "None", is_merged)
        inputs = act.input_model.model_fields if act.input_model else {}
        names = [name for name in inputs if name not in _paging(act)]
        # As a model it is JSON, whatever the format that is named where none is.
        is_model = act.arguments.is_document
        values = ", ".join(
            'format="json"'
            if is_model and name == "format"
            else f"{_wire_name(act, name)}={self._value(name, inputs[name])}"
            for name in names
        )
        if _is_list(act):
            return f"pages({', '.join([*arguments, *([values] if values else [])])})"
        if _has_items(act):
            arguments.append('part="items"')
        if act.input_model:
            keyword = "query" if method in ("GET", "DELETE") else "body"
            arguments.append(f"{keyword}=fields({values})")
        if act.arguments.takes_key and act.repeatable:
            # Without a key it is one already, unless it is asked for again.
            arguments.append("headers=key_header(idempotency_key, is_made=again)")
        elif act.arguments.takes_key:
            arguments.append("headers=key_header(idempotency_key)")
        if method == "GET":
            return f"get({', '.join(arguments)})"
        if act.arguments.takes_key or act.repeatable:
            is_single = "again" in names and not act.arguments.takes_key
            arguments.append("is_repeatable=" + ("not again" if is_single else "True"))
        return f"Call({', '.join([repr(method), *arguments])})"

    def _value(self, name: str, field: FieldInfo) -> str:
        """An option as it is sent."""
        if target := _target(field):
            sent = f"id_of({target.name!r}, {target.name})"
            return sent if field.is_required() else f"{target.name} and {sent}"
        is_nested = any(word in self._classes for word in re.findall(r"\w+", self.hint(field.annotation)))
        return f"entries({name})" if is_nested else name

    def _result(self, act: Act[..., Any]) -> str:
        model = act.arguments.answer
        if model is None:
            return "Call[None]"
        if _is_list(act) or _has_items(act):
            (item,) = get_args(model.model_fields["items"].annotation)
            name = self._answer(item)
            return f"Listing[{name}]" if _is_list(act) else f"Call[list[{name}]]"
        return f"Call[{self._answer(model)}]"

    def _answer(self, model: type[BaseModel]) -> str:
        self._answers[model.__module__].add(model.__name__)
        return model.__name__

    def hint(self, annotation: Any) -> str:
        """A type as the client writes it: ids, amounts and words of enumerations are plainer there."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            return self.hint(arguments[0])
        if origin in (Union, types.UnionType):
            hints = [self.hint(argument) for argument in arguments if argument is not type(None)]
            return " | ".join(dict.fromkeys([*hints, *(["None"] if type(None) in arguments else [])]))
        if origin is Literal:
            return f"Literal[{', '.join(map(repr, arguments))}]"
        if origin in (list, tuple):
            return f"Sequence[{self.hint(arguments[0])}]"
        if isinstance(annotation, type) and issubclass(annotation, Enum):
            words = ", ".join(repr(member.value) for member in annotation)
            self._words[annotation.__name__] = f"Literal[{words}]"
            return annotation.__name__
        if isinstance(annotation, type) and issubclass(annotation, Input):
            return self._class(annotation)
        if isinstance(annotation, type) and issubclass(annotation, Answer):
            return self._answer(annotation)
        return SIMPLE[annotation]

    def _class(self, model: type[Input]) -> str:
        """What a program gives instead of an input in a list."""
        name = model.__name__.removesuffix("Request")
        if name not in self._classes:
            members = "".join(
                f"    {member}: {self.hint(field.annotation) if field.is_required() else self._optional(field)}\n"
                for member, field in model.model_fields.items()
            )
            head = f'@dataclass(frozen=True, slots=True)\nclass {name}:\n    """{model.__doc__}"""\n'
            self._classes[name] = f"\n\n{head}\n{members}"
        return name

    def _docstring(self, acts: Sequence[Act[..., Any]], *notes: str) -> str:
        act = acts[0]
        paragraphs = [" ".join(part.split()) for part in [*act.description.split("\n\n"), *notes]]
        lines = ["\n".join(wrap(part, WIDTH - 4)) for part in paragraphs]
        fields = act.input_model.model_fields if act.input_model else {}
        described = [
            "\n".join(wrap(f"{name}: {field.description}", WIDTH - 8, subsequent_indent="    "))
            for name, field in fields.items()
            if field.description
        ]
        if described:
            lines.append("Args:\n" + indent("\n".join(described), "    "))
        text = "\n\n".join(lines)
        return f'"""{text}\n"""' if "\n" in text else f'"""{text}"""'


def _target(field: FieldInfo) -> Target | None:
    """What a field names by its id."""
    return next((rule for rule in field.metadata if isinstance(rule, Target)), None)


def _used(imports: Mapping[str, tuple[str, ...]], text: str) -> Iterator[str]:
    for module, names in imports.items():
        if used := [name for name in names if re.search(rf"\b{name}\b", text)]:
            yield f"from {module} import {', '.join(used)}\n"


def _wire_name(act: Act[..., Any], name: str) -> str:
    """How a body or a query string calls a field."""
    field = act.input_model.model_fields[name] if act.input_model else None
    return (field.alias if field else None) or name


def _folder(act: Act[..., Any]) -> str:
    return act.route.split("/")[2]


def _paging(act: Act[..., Any]) -> tuple[str, ...]:
    return ("after", "limit") if _is_list(act) else ()


def _client_options(act: Act[..., Any]) -> tuple[str, ...]:
    """The options that the method itself chooses."""
    return (*_paging(act), *(["format"] if act.arguments.is_document else []))


def _is_list(act: Act[..., Any]) -> bool:
    return act.arguments.answer is not None and {"items", "next"} <= act.arguments.answer.model_fields.keys()


def _has_items(act: Act[..., Any]) -> bool:
    """Whether the answer is no more than a list that is whole."""
    answer = act.arguments.answer
    return answer is not None and list(answer.model_fields) == ["items"]
