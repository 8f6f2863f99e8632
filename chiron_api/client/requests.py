"""Methods as declarations: a method has a signature and a docstring, and its decorator says what is sent."""

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
    """A route, and how the arguments of a method fill it in. What is not given is not sent: the server has the defaults.

    Args:
        route: `METHOD /v1/path?query`; an argument takes the place of what the query has. `{id}` or `{name}` is the first
            argument; with `{folder}` it is the one of `batch`, `run` and `subject` that is there.
        items: The model of an answer whose `items` the method gives. Left out, the answer is what the method returns.
        is_repeatable: Sending it again does nothing a second time, unless `again` asks for that.
        names: What the server calls an argument that it has another name for.
    """

    route: str
    items: type[BaseModel] | None = None
    is_repeatable: bool = False
    names: Mapping[str, str] = field(default_factory=dict)

    def builder(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A function with the parameters of a method but `self`, which builds what the method sends."""
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
        """What is sent with these arguments; what the method returns tells how the answer is read."""
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
        """Whether a method has parameters beside the target."""
        if "{folder}" in self.route:
            return not signature.parameters.keys() <= FOLDERS.keys()
        return len(signature.parameters) > ("{" in self.route)

    def place(self, arguments: dict[str, Any]) -> tuple[str, str, str, dict[str, Any]]:
        """The verb, the path, what `{id}` in it is, and the query that the route has. Takes the target from the arguments."""
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
    """A route whose answer, or the `items` of it, is what the method gives."""

    def __call__(self, method: Callable[Concatenate[Any, P], Value]) -> Method[P, Value]:
        """The method that sends it."""
        return Method(self.builder(method))


class Pages(Route):
    """A route of a list in pages; the method gives what is on all of them."""

    def __call__(self, method: Callable[Concatenate[Any, P], Iterable[Item]]) -> ListMethod[P, Item]:
        """The method that reads it."""
        return ListMethod(self.builder(method))

    def build(self, arguments: dict[str, Any], signature: inspect.Signature) -> Listing[Any]:
        """The calls for each page."""
        _, path, target, query = self.place(arguments)
        return pages(path, self.items, target=target, **query, **self.values(arguments))


def _sent(name: str, value: object) -> object:
    """An argument as it is sent: an answer by its id, what has options of its own as a body of these."""
    if isinstance(value, BaseModel):
        return id_of(name, value)
    is_list = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))
    return entries(cast("Iterable[object]", value)) if is_list else value
