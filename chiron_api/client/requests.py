"""Decorators of client methods: a method has only a signature and a docstring, and the decorator builds its request."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, cast
from urllib.parse import parse_qsl

from pydantic import BaseModel

from chiron_api.client.call import Call, Item, Listing, Value, entries, fields, key_header, pages
from chiron_api.client.descriptors import ListMethod, Method
from chiron_api.client.targets import FOLDERS, id_of, target_of

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Route:
    """A route, and how the arguments of a method fill it in. An omitted argument is not sent: the server has the defaults.

    Args:
        route: `METHOD /v1/path?query`; arguments override the query. `{id}` or `{name}` is the first argument. `{folder}` depends
            on which of `batch`, `run` and `subject` is given.
        items: The model of an answer whose `items` the method returns. Default: it returns the answer.
        is_repeatable: Idempotent, unless the argument `again` is set.
        names: Field names that differ from those of the arguments, by argument.
    """

    route: str
    items: type[BaseModel] | None = None
    is_repeatable: bool = False
    names: Mapping[str, str] = field(default_factory=dict)

    def builder(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Make a function with the parameters of a method, without `self`, that builds its request."""
        of_method = inspect.signature(method)
        signature = of_method.replace(parameters=list(of_method.parameters.values())[1:])

        @functools.wraps(method)
        def build(*args: object, **options: object) -> Call[Any] | Listing[Any]:
            try:
                arguments = signature.bind(*args, **options).arguments
            except TypeError as error:
                raise TypeError(f"{method.__name__}(): {error}") from None
            return self.build(arguments, signature)

        build.__signature__ = signature  # type: ignore[attr-defined]  # inspect reads it
        return build

    def build(self, arguments: dict[str, Any], signature: inspect.Signature) -> Call[Any] | Listing[Any]:
        """The request with these arguments; the return type of the method is the model of the answer."""
        verb, path, target, query = self.place(arguments)
        key, again = arguments.pop("idempotency_key", None), bool(arguments.get("again"))
        has_key = "idempotency_key" in signature.parameters
        values = query | self.values(arguments)
        is_query = verb in ("GET", "DELETE")
        return Call(
            verb,
            path,
            self.items or signature.return_annotation,
            target,
            part="items" if self.items else "",
            query=values if is_query else {},
            body=None if is_query or not self.has_options(signature) else values,
            headers=key_header(key, is_made=again or not self.is_repeatable) if has_key else {},
            is_repeatable=verb == "GET" or has_key or (self.is_repeatable and not again),
        )

    def has_options(self, signature: inspect.Signature) -> bool:
        """Whether a method has parameters besides its target."""
        if "{folder}" in self.route:
            return not signature.parameters.keys() <= FOLDERS.keys()
        return len(signature.parameters) > ("{" in self.route)

    def place(self, arguments: dict[str, Any]) -> tuple[str, str, str, dict[str, Any]]:
        """The verb, the path, the id in it, and the query of the route. Removes the target from the arguments."""
        verb, _, address = self.route.partition(" ")
        path, _, query = address.partition("?")
        target = ""
        if "{folder}" in path:
            folder, target = target_of(**{noun: arguments.pop(noun, None) for noun in FOLDERS})
            path = path.replace("{folder}", folder)
        elif "{" in path:
            name = next(iter(arguments))
            target = id_of(name, arguments.pop(name))
        return verb, path, target, dict(parse_qsl(query))

    def values(self, arguments: Mapping[str, Any]) -> dict[str, object]:
        """The options as they are sent."""
        return fields(**{self.names.get(name, name): _sent(name, value) for name, value in arguments.items()})


class Request(Route):
    """A route of one answer; the method returns it, or its `items`."""

    def __call__(self, method: Callable[Concatenate[Any, P], Value]) -> Method[P, Value]:
        """The method that sends it."""
        return Method(self.builder(method))


class Pages(Route):
    """A route of a list in pages; the method iterates over the items of all pages."""

    def __call__(self, method: Callable[Concatenate[Any, P], Iterable[Item]]) -> ListMethod[P, Item]:
        """The method that reads it."""
        return ListMethod(self.builder(method))

    def build(self, arguments: dict[str, Any], signature: inspect.Signature) -> Listing[Any]:
        """The calls for each page."""
        _, path, target, query = self.place(arguments)
        return pages(path, self.items, target=target, **query, **self.values(arguments))


def _sent(name: str, value: object) -> object:
    """An argument as JSON: the id of an answer, and objects for `Topic` and `Column`."""
    if isinstance(value, BaseModel):
        return id_of(name, value)
    is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    return entries(cast("Iterable[object]", value)) if is_list else value
