"""What the webhooks of an owner are to hear, committed with the change itself; who sends it is in `webhooks/`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers.db.connect import fetch_one
from chiron_workers.db.queries import load
from chiron_workers.ids import new_id
from chiron_workers.problems import described, remedies_of
from chiron_workers.runs.events import ON_REQUEST, Event
from chiron_workers.runs.usage import USAGE_SQL
from chiron_workers.states import NoticeKind

SQL = load(__file__, USAGE_SQL)
NOTICE_KINDS = frozenset(NoticeKind)
TEXT_CHARS_MAX = 300  # of a name, or of why something failed or waits
Payload = dict[str, Any]


async def announce(connection: AsyncConnection[DictRow], batch_id: UUID, events: Sequence[Event]) -> None:
    """Insert deliveries of the events of a batch that its owner's webhooks want, in the caller's transaction.

    Nobody hears of what somebody paused, or of runs and batches that end silently.
    """
    notable = [event for event in events if _is_notable(event)]
    if not notable:
        return
    audience = await _audience(connection, batch_id, {event.kind for event in notable})
    if not audience:
        return
    args = {"run_ids": list({event.run_id for event in notable})}
    rows = await (await connection.execute(SQL["runs"], args)).fetchall()
    runs = {row["run_id"]: row for row in rows}
    batch = await fetch_one(connection, SQL["batch"], {"batch_id": batch_id})
    payloads = [_event_payload(event, runs[event.run_id], batch) for event in notable]
    await _insert(connection, audience, payloads)


async def announce_news(
    connection: AsyncConnection[DictRow], batch_id: UUID, subscription_id: UUID, counts: Mapping[str, int]
) -> None:
    """Likewise that a time of a subscription has brought something; `counts` says how much of what."""
    audience = await _audience(connection, batch_id, {NoticeKind.SUBSCRIPTION_NEWS})
    if not audience:
        return
    batch = await fetch_one(connection, SQL["batch"], {"batch_id": batch_id})
    data = {"subscription_id": subscription_id, **_batch_data(batch), "counts": dict(counts)}
    await _insert(connection, audience, [_payload(NoticeKind.SUBSCRIPTION_NEWS, datetime.now(UTC), data)])


def _is_notable(event: Event) -> bool:
    match event.kind:
        case NoticeKind.RUN_COMPLETED:
            return not event.data.get("silent")
        case NoticeKind.RUN_PAUSED:
            return event.data != ON_REQUEST
        case NoticeKind.BATCH_COMPLETED:
            return bool(event.data["silent"] < sum(event.data["runs"].values()))
    return event.kind in NOTICE_KINDS


async def _audience(
    connection: AsyncConnection[DictRow], batch_id: UUID, kinds: set[str] | set[NoticeKind]
) -> list[DictRow]:
    if not kinds:
        return []
    args = {"batch_id": batch_id, "kinds": [str(kind) for kind in kinds]}
    return await (await connection.execute(SQL["audience"], args)).fetchall()


async def _insert(
    connection: AsyncConnection[DictRow], audience: Sequence[DictRow], payloads: Sequence[Payload]
) -> None:
    async with connection.cursor() as cursor:
        await cursor.executemany(SQL["insert"], list(_deliveries(audience, payloads)))


def _deliveries(audience: Sequence[DictRow], payloads: Sequence[Payload]) -> Iterator[dict[str, Any]]:
    for payload in payloads:
        for webhook in audience:
            if payload["type"] in webhook["kinds"]:
                delivery = {"id": new_id(), "webhook_id": webhook["id"], "kind": payload["type"]}
                yield delivery | {"payload": Json(payload)}


def _event_payload(event: Event, run: DictRow, batch: DictRow) -> Payload:
    if event.kind == NoticeKind.BATCH_COMPLETED:
        return _payload(event.kind, event.at, _batch_data(batch) | {"runs": event.data["runs"]})
    data = run | {"name": run["name"][:TEXT_CHARS_MAX], "link": f"/runs/{run['run_id']}"}
    reason = event.data.get("message") or event.data.get("reason")
    if reason:
        data["reason"] = str(reason)[:TEXT_CHARS_MAX]
    if remedies := remedies_of(event.data, run_id=event.run_id, batch_id=event.batch_id):
        data |= described(remedies)
    return _payload(event.kind, event.at, data)


def _batch_data(batch: DictRow) -> dict[str, Any]:
    names = {"name": batch["name"][:TEXT_CHARS_MAX], "state": "completed"}
    return batch | names | {"link": f"/batches/{batch['batch_id']}"}


def _payload(kind: str, at: datetime, data: Mapping[str, Any]) -> Payload:
    ids = {name: str(value) for name, value in data.items() if isinstance(value, UUID)}
    money = {"spent_usd": float(data["spent_usd"])}
    return {"type": str(kind), "timestamp": at.astimezone(UTC).isoformat(), "data": {**data, **ids, **money}}
