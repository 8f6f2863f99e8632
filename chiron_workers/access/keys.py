"""Keys of programs and people: random, shown once, and stored as their SHA-256."""

import hashlib
import re
import secrets
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers import problems
from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import LOCAL_OWNER, Principal
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import Conflict, NotFound, RateExceeded, Unauthenticated, UsageError
from chiron_workers.ids import new_id
from chiron_workers.states import AccessScope, BudgetPeriod

SQL = load(__file__)
PREFIX = "chiron_"
SECRET_BYTES = 32
SECRET_CHARS_MAX = 200
KEYS_MAX = 10_000  # that one list shows
USD_MAX = Decimal(10_000_000)
USD_MIN = Decimal("0.000001")
RATE_MAX = 1_000_000
NAME_CHARS_MAX = 64
NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._@-]{{0,{NAME_CHARS_MAX - 1}}}")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key to make. Its owner is called as the key is, unless another one is named."""

    name: str
    scope: AccessScope
    owner: str = ""
    expires_at: datetime | None = None
    budget_usd: Decimal | None = None
    budget_period: BudgetPeriod = BudgetPeriod.TOTAL
    requests_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret."""

    id: UUID
    name: str
    owner: str
    scope: AccessScope
    budget_usd: Decimal | None
    budget_period: BudgetPeriod | None
    requests_per_minute: int | None
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None

    @property
    def principal(self) -> Principal:
        """Who acts with it."""
        return Principal(self.owner, self.scope, self.name, self.id)


def secret_hash(secret: str) -> bytes:
    """What the database holds of a secret. A random one of 256 bits needs no slow hash: nobody can guess it."""
    return hashlib.sha256(secret.encode()).digest()


async def create_key(pool: Pool, new: NewKey) -> tuple[str, Key]:
    """Make a key; its secret, which nobody can show again, and what is stored of it.

    Raises:
        UsageError: A name or an amount cannot be used.
        Conflict: There is a key of that name.
    """
    _check(new)
    secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    args = {
        "id": new_id(),
        "name": new.name,
        "owner": new.owner or new.name,
        "scope": new.scope,
        "hash": secret_hash(secret),
        "budget_usd": new.budget_usd,
        "budget_period": None if new.budget_usd is None else new.budget_period,
        "requests_per_minute": new.requests_per_minute,
        "expires_at": new.expires_at,
    }
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(SQL["free_name"], args)
        row = await (await connection.execute(SQL["insert"], args)).fetchone()
        if row is not None:
            detail = {"scope": new.scope, "key_owner": args["owner"]}
            await record_within(connection, detail, keys=new.name)
    if row is None:
        raise Conflict(
            f"There is a key {new.name!r}. Choose another name.", remedies=(problems.revoke_key(new.name),)
        )
    return secret, key_of_row(row)


async def all_keys(pool: Pool, *, with_revoked: bool = False) -> list[Key]:
    """The keys, oldest first."""
    args = {"with_revoked": with_revoked, "limit": KEYS_MAX}
    return [key_of_row(row) for row in await fetch_all(pool, SQL["all"], args)]


async def revoke_key(pool: Pool, name: str) -> Key:
    """End a key for good. Raises NotFound where none of that name is in use."""
    async with pool.connection() as connection, connection.transaction():
        row = await (await connection.execute(SQL["revoke"], {"name": name})).fetchone()
        if row is None:
            raise NotFound(
                f"There is no key {name[:NAME_CHARS_MAX]!r} in use.", remedies=(problems.SEE_KEYS,)
            )
        await record_within(connection, keys=name)
    return key_of_row(row)


async def find_key(pool: Pool, secret: str) -> Key:
    """The key of a secret. Raises Unauthenticated where it is unknown, revoked or expired."""
    if not secret.startswith(PREFIX) or len(secret) > SECRET_CHARS_MAX:
        raise Unauthenticated("This server does not know that key.")
    rows = await fetch_all(pool, SQL["by_hash"], {"hash": secret_hash(secret)})
    if not rows:
        raise Unauthenticated("This server does not know that key.")
    row = rows[0]
    is_expired = row.pop("is_expired")
    if row["revoked_at"] is not None:
        raise Unauthenticated(f"The key {row['name']!r} was revoked.")
    if is_expired:
        raise Unauthenticated(f"The key {row['name']!r} has expired.")
    return key_of_row(row)


async def use_key(pool: Pool, key: Key) -> None:
    """Count a request of a key. Raises RateExceeded where it has sent as many within a minute as it may."""
    if await fetch_all(pool, SQL["use"], {"id": key.id}):
        return
    rows = await fetch_all(pool, SQL["seconds_left"], {"id": key.id})
    seconds = rows[0]["seconds"] if rows else 60
    raise RateExceeded(
        f"The key {key.name!r} may send {key.requests_per_minute:,} requests a minute; try again in {seconds} s.",
        retry_after_s=seconds,
    )


def _check(new: NewKey) -> None:
    for name in (new.name, new.owner or new.name):
        if NAME.fullmatch(name) is None:
            raise UsageError(
                f"{name[:NAME_CHARS_MAX]!r} is no name of a key or an owner: it has up to {NAME_CHARS_MAX} letters, "
                "digits and ._@-, and begins with a letter or a digit."
            )
    if (new.owner or new.name) == LOCAL_OWNER and new.owner != LOCAL_OWNER:
        raise UsageError(
            "A key is not called `local`. To make one for the user of this machine, name `local` as its owner."
        )
    if new.budget_usd is not None and not USD_MIN <= new.budget_usd <= USD_MAX:
        raise UsageError(f"The budget must be above 0 and at most {USD_MAX:,} USD (got {new.budget_usd}).")
    if new.requests_per_minute is not None and not 1 <= new.requests_per_minute <= RATE_MAX:
        raise UsageError(f"A key may send between 1 and {RATE_MAX:,} requests a minute.")


def key_of_row(row: DictRow) -> Key:
    """A key from a row that has its columns."""
    words: dict[str, Any] = {
        "scope": AccessScope(row["scope"]),
        "budget_period": BudgetPeriod(row["budget_period"]) if row["budget_period"] else None,
    }
    return Key(**{field.name: row[field.name] for field in fields(Key)} | words)
