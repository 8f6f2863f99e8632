"""Methods of both clients as descriptors: a function builds the call, and the client sends it, blocking or not."""

import functools
from collections.abc import Callable, Coroutine
from typing import Any, Generic, ParamSpec, TypeVar, overload

from chiron_api.client.blocking import BlockingShell, EventStream, Items
from chiron_api.client.call import Call, Item, Listing, Value, Wait
from chiron_api.client.concurrent import AsyncEventStream, AsyncItems, AsyncShell
from chiron_api.client.flows.requests import request, wait_for_end
from chiron_api.client.flows.streams import EventFlow, pages, results

P = ParamSpec("P")
Built = TypeVar("Built")


class _Described(Generic[P, Built]):
    """A method with the name, the parameters and the docstring of the function that builds its calls."""

    def __init__(self, build: Callable[P, Built]) -> None:
        self.build = build

    def bound(self, send: Callable[[Built], Any]) -> Callable[P, Any]:
        """The method of one client, which passes each call to `send`."""

        @functools.wraps(self.build)
        def method(*args: P.args, **options: P.kwargs) -> Any:
            return send(self.build(*args, **options))

        return method


class Method(_Described[P, Call[Value] | Wait[Value]]):
    """A method that returns the value of a call."""

    @overload
    def __get__(self, shell: None, owner: type) -> Callable[P, Call[Value] | Wait[Value]]: ...
    @overload
    def __get__(self, shell: BlockingShell, owner: type) -> Callable[P, Value]: ...
    @overload
    def __get__(self, shell: AsyncShell, owner: type) -> Callable[P, Coroutine[Any, Any, Value]]: ...
    def __get__(self, shell: BlockingShell | AsyncShell | None, owner: type) -> Any:
        """The method of a client; of the class, the function that builds its calls."""
        if shell is None:
            return self.build
        return self.bound(
            lambda call: shell._value(  # of ours
                wait_for_end(shell._server, call) if isinstance(call, Wait) else request(shell._server, call)
            )
        )


class ListMethod(_Described[P, Listing[Item] | Call[Item]]):
    """A method that iterates over a list, whose pages are fetched as needed, or over a stream of lines."""

    @overload
    def __get__(self, shell: None, owner: type) -> Callable[P, Listing[Item] | Call[Item]]: ...
    @overload
    def __get__(self, shell: BlockingShell, owner: type) -> Callable[P, Items[Item]]: ...
    @overload
    def __get__(self, shell: AsyncShell, owner: type) -> Callable[P, AsyncItems[Item]]: ...
    def __get__(self, shell: BlockingShell | AsyncShell | None, owner: type) -> Any:
        """The method of a client; of the class, the function that builds its calls."""
        if shell is None:
            return self.build
        return self.bound(
            lambda built: shell._items(
                pages(shell._server, built) if isinstance(built, Listing) else results(shell._server, built)
            )
        )


class EventMethod(_Described[P, Call[Any]]):
    """A method that follows events."""

    @overload
    def __get__(self, shell: None, owner: type) -> Callable[P, Call[Any]]: ...
    @overload
    def __get__(self, shell: BlockingShell, owner: type) -> Callable[P, EventStream]: ...
    @overload
    def __get__(self, shell: AsyncShell, owner: type) -> Callable[P, AsyncEventStream]: ...
    def __get__(self, shell: BlockingShell | AsyncShell | None, owner: type) -> Any:
        """The method of a client; of the class, the function that builds its calls."""
        if shell is None:
            return self.build
        return self.bound(lambda call: shell._events(EventFlow(shell._server, call)))
