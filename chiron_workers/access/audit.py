"""The trail of what was changed: by whom, with which key, and when. It holds no text that somebody sent, and no secret."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection, Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.ids import first_id, new_id

SQL = load(__file__)
TARGET_CHARS_MAX = 200


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An act that changed something; `key_name` is None where it needed no key."""

    id: UUID
    at: datetime
    owner: str
    key_name: str | None
    action: str
    target: str
    detail: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody is about to change. Its entry has one id, so that it stands in the trail once, whoever writes it.

    Args:
        action: What is done, such as `batches.submit`.
        target: The id or the name of what it is done to; empty where that is made by it.
        detail: What else is worth knowing; ids, names and numbers.
    """

    principal: Principal
    action: str
    target: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    id: UUID = field(default_factory=new_id)

    def entry(
        self, outcome: Mapping[str, object], details: Mapping[str, object] | None = None
    ) -> dict[str, Any]:
        """The row of its entry; `outcome` has what came of it, by noun, and `details` what else is worth knowing of that."""
        noun = self.action.partition(".")[0]
        name = str(outcome.get(noun) or next(iter(outcome.values()), ""))
        detail = {"made": name} if self.target and name not in ("", self.target) else {}
        return {
            "id": self.id,
            "owner": self.principal.owner,
            "key_id": self.principal.key_id,
            "key_name": self.principal.key_name,
            "action": self.action,
            "target": (self.target or name)[:TARGET_CHARS_MAX].replace("\0", ""),
            "detail": Jsonb({**self.detail, **detail, **(details or {})}),
        }


# Of a request, a call or a command; what a worker does by itself is no act of somebody.
_act: ContextVar[Act | None] = ContextVar("act", default=None)


@contextmanager
def acting(act: Act) -> Iterator[None]:
    """Do within what the act is; transactions that call `record_within` take its entry along."""
    token = _act.set(act)
    try:
        yield
    finally:
        _act.reset(token)


async def record_within(
    connection: AsyncConnection[DictRow], detail: Mapping[str, object] | None = None, **made: object
) -> None:
    """Add the entry of the act under way, in the transaction that does it: both commit, or neither.

    Args:
        detail: What else is worth knowing of that; ids, names and numbers.
        made: What the act made or changed, by noun: `batches`, `runs`, `keys`.
    """
    if (act := _act.get()) is not None:
        await connection.execute(SQL["insert"], act.entry(made, detail))


async def record(pool: Pool, act: Act, **made: object) -> None:
    """Add the entry of an act that is done, unless the transaction that did it has added it."""
    async with pool.connection() as connection:
        await connection.execute(SQL["insert"], act.entry(made))


@asynccontextmanager
async def command(
    pool: Pool, action: str, target: object = "", detail: Mapping[str, Any] | None = None
) -> AsyncIterator[dict[str, object]]:
    """Do within what a command is for, which the user of this machine gives; its entry is there at the end at the latest.

    It yields where to say what was made, by noun, if no target says it.
    """
    made: dict[str, object] = {}
    act = Act(LOCAL, action, str(target), {"via": "command"} | dict(detail or {}))
    with acting(act):
        yield made
    await record(pool, act, **made)


@asynccontextmanager
async def long_command(pool: Pool, action: str, target: object = "") -> AsyncIterator[dict[str, object]]:
    """As `command`, where it takes many transactions: the first one adds an entry of the phase `begin`, and once all are done
    there is one of the phase `end`. Where that is missing, it was cut or failed, and what it had done by then stays.

    It yields where to say what came of it, for the second entry.
    """
    outcome: dict[str, object] = {}
    begin = Act(LOCAL, action, str(target), {"via": "command", "phase": "begin"})
    with acting(begin):
        yield outcome
    await record(pool, begin)
    await record(pool, Act(LOCAL, action, str(target), {"via": "command", "phase": "end"} | outcome))


async def newest_entries(
    pool: Pool, *, limit: int, before: UUID | None = None, owner: str | None = None
) -> list[AuditEntry]:
    """The newest entries, newest first; with `before` those older than that one, with `owner` those of one owner."""
    args = {"limit": limit, "before": before, "owner": owner}
    return [AuditEntry(**row) for row in await fetch_all(pool, SQL["newest"], args)]


async def prune_entries(pool: Pool, *, older_than: timedelta, dry_run: bool = False) -> int:
    """Delete the entries that are older; how many they are, which is all that `dry_run` tells."""
    args = {"before": first_id(datetime.now(UTC) - older_than)}
    if dry_run:
        [row] = await fetch_all(pool, SQL["count"], args)
        return int(row["entries"])
    async with pool.connection() as connection, connection.transaction():
        rows = await connection.execute(SQL["prune"], args)
        await record_within(connection)
        return rows.rowcount


def record_sync(
    connection: Connection[DictRow], action: str, target: object, detail: Mapping[str, Any]
) -> None:
    """Add the entry of a command that works without a pool, in the transaction of its connection."""
    act = Act(LOCAL, action, str(target), {"via": "command"} | dict(detail))
    connection.execute(SQL["insert"], act.entry({}))


def has_trail(connection: Connection[DictRow]) -> bool:
    """Whether the schema has a trail, as all but early versions do."""
    row = connection.execute(SQL["has_trail"]).fetchone()
    return bool(row and row["has_trail"])
