"""Arguments as models send them, brought nearer to a tool's types before pydantic's lax mode has its say."""

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel

THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d+)?\s*")
LISTS = (list, tuple, set, frozenset)
Location = tuple[int | str, ...]


class NotFiniteError(ValueError):
    """A number that JSON has no word for, at `location` inside the value."""

    def __init__(self, location: Location, value: object) -> None:
        super().__init__("not a finite number")
        self.location = location
        self.value = value


def loosened(value: object, hint: Any, location: Location = ()) -> object:
    """The value a model likely meant: JSON inside a string, `null` in a string, a choice in another case.

    What it cannot place it returns as it is, for the validation to judge.

    Raises:
        NotFiniteError: A float is infinite or not a number.
    """
    hint = _bare(hint)
    kind = get_origin(hint) or hint
    if kind in (Union, UnionType):
        return _union(value, get_args(hint), location)
    if kind is Literal:
        return _choice(value, {str(choice): choice for choice in get_args(hint)})
    return _of_class(value, kind, get_args(hint), location) if isinstance(kind, type) else value


def _bare(hint: Any) -> Any:
    while True:
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif hasattr(hint, "__supertype__"):  # NewType
            hint = hint.__supertype__
        elif hasattr(hint, "__value__"):  # type X = ...
            hint = hint.__value__
        else:
            return hint


def _union(value: object, members: tuple[Any, ...], location: Location) -> object:
    if NoneType in members and isinstance(value, str) and value.strip().casefold() in ("", "null"):
        return None
    others = [member for member in members if member is not NoneType]
    if len(others) == 1:
        return loosened(value, others[0], location)
    kinds = set(map(_bare, others))
    if type(value) in kinds or (type(value) is int and float in kinds):
        return value
    for member in others:
        changed = loosened(value, member, location)
        if changed is not value:
            return changed
    return value


def _of_class(value: object, kind: type, members: tuple[Any, ...], location: Location) -> object:
    if issubclass(kind, Enum):
        names = {name: member.value for name, member in kind.__members__.items()}
        return _choice(value, names | {str(member.value): member.value for member in kind})
    if kind in (int, float, str):
        return _scalar(value, kind, location)
    if issubclass(kind, LISTS):
        return _list(value, kind, members, location)
    return _object(value, kind, members, location)


def _choice(value: object, choices: Mapping[str, object]) -> object:
    if not isinstance(value, str) or value in choices.values():
        return value
    wanted = value.strip().casefold()
    meant = {repr(choice): choice for text, choice in choices.items() if text.casefold() == wanted}
    return next(iter(meant.values())) if len(meant) == 1 else value


def _scalar(value: object, kind: type, location: Location) -> object:
    if kind is str:
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if isinstance(value, str) and THOUSANDS.fullmatch(value):
        return value.replace(",", "")
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)  # JSON schema calls 1e20 an integer
    if kind is float and isinstance(value, str | float):
        try:
            finite = math.isfinite(float(value))
        except ValueError:
            return value
        if not finite:
            raise NotFiniteError(location, value)
    return value


def _list(value: object, kind: type, members: tuple[Any, ...], location: Location) -> object:
    value = _opened(value, "[")
    if not isinstance(value, list) or not members:
        return value
    if issubclass(kind, tuple) and Ellipsis not in members:
        hints = members + (Any,) * (len(value) - len(members))
    else:
        hints = (members[0],) * len(value)
    return [
        loosened(item, hint, (*location, n)) for n, (item, hint) in enumerate(zip(value, hints, strict=False))
    ]


def _object(value: object, kind: type, members: tuple[Any, ...], location: Location) -> object:
    fields = _fields(kind)
    if fields is None and not issubclass(kind, Mapping):
        return value
    value = _opened(value, "{")
    if not isinstance(value, dict):
        return value
    every = members[1] if fields is None and len(members) == 2 else Any
    return {
        key: loosened(item, (fields or {}).get(key, every), (*location, key)) for key, item in value.items()
    }


def _fields(kind: type) -> dict[str, Any] | None:
    if issubclass(kind, BaseModel):
        fields = {name: field.annotation for name, field in kind.model_fields.items()}
        aliases = {field.alias: field.annotation for field in kind.model_fields.values() if field.alias}
        return fields | aliases
    if dataclasses.is_dataclass(kind) or is_typeddict(kind):
        return get_type_hints(kind)
    return None


def _opened(value: object, bracket: str) -> object:
    if not isinstance(value, str) or not value.lstrip().startswith(bracket):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
