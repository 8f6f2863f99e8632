"""Whose request it is, by the key or the session cookie that it brings; looked up at most once in a few seconds."""

import secrets
import time
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from chiron_workers.access.keys import Key, find_key, use_key
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.access.sessions import find_session
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Unauthenticated

COOKIE = "chiron_session"
CACHED_S = 3.0  # a key that is revoked is refused within five seconds
CACHED_MAX = 10_000
USE_NOTED_S = 60.0  # between two notes of when a key without a rate was used last

Name = TypeVar("Name")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request brings: a bearer token, else the token of a session; both are empty where there is none."""

    bearer: str = field(default="", repr=False)
    session: str = field(default="", repr=False)


def credentials_of(headers: Headers) -> Credentials:
    """The credentials of a request. One that brings a bearer token says by itself whose it is, whatever its cookies are."""
    if authorization := headers.get("authorization", ""):
        scheme, _, token = authorization.partition(" ")
        return Credentials(bearer=token.strip() if scheme.lower() == "bearer" else "-")
    return Credentials(session=cookie_parser(headers.get("cookie", "")).get(COOKIE, ""))


class Principals:
    """Finds principals; those of the last few seconds from memory.

    Args:
        local_key: The key of this machine's user, who needs no row.
    """

    def __init__(self, local_key: str) -> None:
        self._local_key = local_key.encode()
        self._keys: dict[Credentials, tuple[float, Key | None]] = {}
        self._noted: dict[UUID, float] = {}

    def is_local(self, credentials: Credentials) -> bool:
        """Whether the request brings the key of this machine's user."""
        return bool(self._local_key) and secrets.compare_digest(credentials.bearer.encode(), self._local_key)

    async def find(self, pool: Pool, credentials: Credentials) -> Principal:
        """Whose request it is, without counting it. Raises Unauthenticated."""
        if self.is_local(credentials):
            return LOCAL
        if not credentials.bearer and not credentials.session:
            raise Unauthenticated(
                "Send a key as `Authorization: Bearer KEY`. The owner of this server makes one; a browser signs in."
            )
        key = await self._key(pool, credentials)
        return LOCAL if key is None else key.principal

    async def count(self, pool: Pool, credentials: Credentials) -> None:
        """Count a request against the rate of its key, and note when the key was used. Raises RateExceeded."""
        key = None if self.is_local(credentials) else await self._key(pool, credentials)
        if key is None:
            return
        now = time.monotonic()
        is_noted = now - self._noted.get(key.id, -USE_NOTED_S) < USE_NOTED_S
        if key.requests_per_minute is None and is_noted:
            return
        await use_key(pool, key)
        _remember(self._noted, key.id, now)

    def forget(self, credentials: Credentials) -> None:
        """Look a session up anew at its next request."""
        self._keys.pop(credentials, None)

    async def _key(self, pool: Pool, credentials: Credentials) -> Key | None:
        """The key that a request brings, or that its session is of; None for a session of the local user."""
        now = time.monotonic()
        entry = self._keys.get(credentials)
        if entry is None or now - entry[0] >= CACHED_S:
            self._keys.pop(credentials, None)
            bearer, session = credentials.bearer, credentials.session
            entry = (now, await (find_key(pool, bearer) if bearer else find_session(pool, session)))
            _remember(self._keys, credentials, entry)
        return entry[1]


def _remember(cache: dict[Name, Value], name: Name, value: Value) -> None:
    cache[name] = value
    while len(cache) > CACHED_MAX:
        cache.pop(next(iter(cache)))
