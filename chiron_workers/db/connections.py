"""Connections whose failed attempts leave no socket.

psycopg leaves the socket of an attempt that fails in a cycle of references: the error holds the frame of `connect`, which holds
the error. It stays open until garbage is collected, which our processes do seldom, and a server that stood still takes it for a
client when it resumes.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow

Attempt = Generator[Any, Any, Any]

_attempts: ContextVar[list[Attempt]] = ContextVar("attempts")  # of the `connect` under way


class SteadyConnection(AsyncConnection[DictRow]):
    """A connection of an event loop."""

    @classmethod
    async def connect(cls, *args: Any, **kwargs: Any) -> Self:
        """As psycopg's own."""
        with _last_attempt_only():
            return await super().connect(*args, **kwargs)

    async def cancel_safe(self, **kwargs: Any) -> None:
        """As psycopg's own. It asks over a connection of its own, which may fail as well."""
        with _last_attempt_only():
            await super().cancel_safe(**kwargs)

    @classmethod
    def _connect_gen(cls, *args: Any, **kwargs: Any) -> Any:
        return _begin(super()._connect_gen(*args, **kwargs))

    def _cancel_gen(self) -> Any:
        return _begin(super()._cancel_gen())


class SteadyThreadConnection(psycopg.Connection[DictRow]):
    """A connection of a thread."""

    @classmethod
    def connect(cls, *args: Any, **kwargs: Any) -> Self:
        """As psycopg's own."""
        with _last_attempt_only():
            return super().connect(*args, **kwargs)

    @classmethod
    def _connect_gen(cls, *args: Any, **kwargs: Any) -> Any:
        return _begin(super()._connect_gen(*args, **kwargs))


def _begin(attempt: Attempt) -> Attempt:
    """Note an attempt, after those at other addresses have ended."""
    attempts = _attempts.get()
    _end(attempts)
    attempts.append(attempt)
    return attempt


@contextmanager
def _last_attempt_only() -> Iterator[None]:
    """End all attempts of the block at its end; one that succeeded has no socket of its own any more."""
    attempts: list[Attempt] = []
    token = _attempts.set(attempts)
    try:
        yield
    finally:
        _attempts.reset(token)
        _end(attempts)


def _end(attempts: list[Attempt]) -> None:
    while attempts:
        attempts.pop().close()  # which frees libpq's connection, and so closes the socket
