"""The trail of what was changed: by whom, with which key, and when. It holds no text that somebody sent, and no secret."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

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


async def record(
    pool: Pool,
    principal: Principal,
    action: str,
    target: object = "",
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Add an entry.

    Args:
        action: What was done, such as `batches.submit`.
        target: The id or the name of what it was done to.
        detail: What else is worth knowing; ids, names and numbers.
    """
    args = {
        "id": new_id(),
        "owner": principal.owner,
        "key_id": principal.key_id,
        "key_name": principal.key_name,
        "action": action,
        "target": str(target)[:TARGET_CHARS_MAX].replace("\0", ""),
        "detail": Jsonb(dict(detail or {})),
    }
    async with pool.connection() as connection:
        await connection.execute(SQL["insert"], args)


async def record_command(
    pool: Pool, action: str, target: object = "", detail: Mapping[str, Any] | None = None
) -> None:
    """Add an entry for a command, which the user of this machine gives."""
    await record(pool, LOCAL, action, target, {"via": "command"} | dict(detail or {}))


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
    async with pool.connection() as connection:
        return (await connection.execute(SQL["prune"], args)).rowcount
