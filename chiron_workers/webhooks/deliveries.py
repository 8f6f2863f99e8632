"""Deliveries: what a webhook is sent, how often that was tried, and what came of it."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Rollback
from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers.access.audit import record_within
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.outages import is_away
from chiron_workers.db.queries import load
from chiron_workers.duty_failures import isolated
from chiron_workers.errors import Conflict, NotFound
from chiron_workers.ids import first_id, new_id
from chiron_workers.problems import SEE_WEBHOOKS, resume_webhook
from chiron_workers.runs.session import Session
from chiron_workers.states import DeliveryState, Duty, NoticeKind, WebhookFormat, WebhookState
from chiron_workers.webhooks.webhooks import Webhooks

SQL = load(__file__)
CLAIM_FOR = timedelta(seconds=45)  # more than a request may take
FAILURE_PAUSE = timedelta(seconds=5)  # of an endpoint that has just failed, whatever else is due there
PATIENCE = timedelta(days=5)  # with an endpoint that does nothing but fail
KEPT_FOR = timedelta(days=30)
# As Standard Webhooks proposes, after the first try.
BACKOFFS = tuple(
    timedelta(seconds=seconds) for seconds in (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
)
JITTER = 0.2
GONE_STATUS = 410


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is sent to a webhook. `status` and `error` are of the last try; `due_at` is None unless it waits."""

    id: UUID
    webhook_id: UUID
    kind: str
    payload: dict[str, Any]
    state: DeliveryState
    tries: int
    due_at: datetime | None
    status: int | None
    error: str
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that this worker alone sends, until `CLAIM_FOR` is over."""

    id: UUID
    webhook_id: UUID
    owner: str
    payload: Mapping[str, Any]
    tries: int
    url: str = field(repr=False)
    format: WebhookFormat
    secret: str = field(repr=False)
    claims: int
    has_failed_for_long: bool | None
    has_broken: bool = False  # the worker failed at it before, whatever its endpoint answered


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a try: the status of the answer if there was one, and what was wrong, or nothing."""

    status: int | None
    error: str = ""


async def newest_deliveries(
    session: Session, webhook_id: UUID, *, limit: int, before: UUID | None = None
) -> list[Delivery]:
    """The newest deliveries of a webhook, newest first; with `before` those older than that one. Raises NotFound."""
    webhook = await Webhooks(session).get(webhook_id)
    args = {"webhook_id": webhook.id, "limit": limit, "before": before}
    return [_delivery(row) for row in await session.rows(SQL["newest"], args)]


async def resend(session: Session, delivery_id: UUID) -> Delivery:
    """Have a delivery sent at once, again if it was: under the same id, so that a receiver sees that it is the same.

    Raises:
        NotFound: There is no such delivery.
        Conflict: Its webhook is off or paused.
    """
    delivery = await _get(session, delivery_id)
    if not await session.write(SQL["resend"], {"id": delivery_id}):
        webhook = await Webhooks(session).get(delivery.webhook_id)
        raise Conflict(f"Webhook {webhook.id} is {webhook.state}.", remedies=(resume_webhook(webhook.id),))
    await record_within(await session.begin(), deliveries=delivery_id)
    return await _get(session, delivery_id)


async def send_test(session: Session, webhook_id: UUID) -> Delivery:
    """Have a delivery sent that says nothing; a webhook that is off is turned on again.

    Raises:
        NotFound: There is no such webhook.
        Conflict: It is paused.
    """
    webhooks = Webhooks(session)
    webhook = await webhooks.get(webhook_id)
    if webhook.state is WebhookState.PAUSED:
        raise Conflict(f"Webhook {webhook.id} is paused.", remedies=(resume_webhook(webhook.id),))
    if webhook.state is WebhookState.OFF:
        webhook = await webhooks.resume(webhook_id)
    kind, at = NoticeKind.WEBHOOK_TEST, datetime.now(UTC).isoformat()
    payload = {"type": kind, "timestamp": at, "data": {"webhook_id": str(webhook.id), "link": "/"}}
    delivery_id = new_id()
    args = {"id": delivery_id, "webhook_id": webhook.id, "kind": kind, "payload": Json(payload)}
    await session.write(SQL["insert"], args)
    await record_within(await session.begin(), deliveries=delivery_id)
    return await _get(session, delivery_id)


async def claim_next(pool: Pool, *, full_owners: Sequence[str] = ()) -> Claim | None:
    """Claim the delivery that is due first, of a webhook that no worker is sending to; None where there is none.

    A webhook that cannot be claimed is left for a while, and keeps no other waiting.

    Args:
        full_owners: Whose webhooks are passed over, since this worker sends enough for them.
    """
    args = {"claim_for": CLAIM_FOR, "patience": PATIENCE, "only_id": None, "full_owners": list(full_owners)}
    try:
        return await _claim(pool, args)
    except (psycopg.Error, ValueError) as error:
        if is_away(error):
            raise
    for row in await fetch_all(pool, SQL["due_endpoints"], args):
        async with isolated(pool.connection, Duty.DELIVERIES, row["id"]):
            if (claim := await _claim(pool, args | {"only_id": row["id"]})) is not None:
                return claim
    return None


async def _claim(pool: Pool, args: Mapping[str, Any]) -> Claim | None:
    async with pool.connection() as connection, connection.transaction() as transaction:
        webhook = await (await connection.execute(SQL["claim_endpoint"], args)).fetchone()
        if webhook is None:
            return None
        webhook["webhook_id"] = webhook.pop("id")
        delivery = await (await connection.execute(SQL["begin_try"], webhook)).fetchone()
        if delivery is None:  # another worker has sent it just now
            raise Rollback(transaction)
        return Claim(**webhook | delivery | {"format": WebhookFormat(webhook["format"])})
    return None


async def settle(pool: Pool, claim: Claim, answer: Answer) -> str:
    """Store what came of a try; why the webhook is off from now on, empty if it is not.

    It is tried again later as long as there are tries. Nothing is stored where the claim has passed to another worker.
    """
    off = _reason_to_turn_off(claim, answer)
    has_tries = claim.tries <= len(BACKOFFS)
    state = DeliveryState.WAITING if has_tries and not off else DeliveryState.FAILED
    if not answer.error:
        state = DeliveryState.DELIVERED
    args = {
        "id": claim.id,
        "webhook_id": claim.webhook_id,
        "claims": claim.claims,
        "state": state,
        "due_in": backoff(claim.tries) if state is DeliveryState.WAITING else timedelta(),
        "rest": FAILURE_PAUSE,
        "status": answer.status,
        "error": answer.error,
        "off": off,
    }
    async with pool.connection() as connection, connection.transaction():
        row = await (await connection.execute(SQL["settle"], args)).fetchone()
        if off and row is not None:
            await connection.execute(SQL["give_up"], args | {"error": off})
    return off if row is not None else ""


async def release_claim(pool: Pool, claim: Claim) -> None:
    """Leave a delivery to other workers at once, since this one stops."""
    async with pool.connection() as connection:
        await connection.execute(SQL["release"], {"webhook_id": claim.webhook_id, "claims": claim.claims})


async def forget_old(pool: Pool) -> int:
    """Delete what ended more than `KEPT_FOR` ago; how many these are."""
    async with pool.connection() as connection:
        args = {"before": first_id(datetime.now(UTC) - KEPT_FOR)}
        return (await connection.execute(SQL["forget"], args)).rowcount


def backoff(tries: int) -> timedelta:
    """How long to wait after so many tries, give or take a fifth."""
    pause = BACKOFFS[min(tries, len(BACKOFFS)) - 1]
    return pause * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311


def _reason_to_turn_off(claim: Claim, answer: Answer) -> str:
    if answer.status == GONE_STATUS:
        return "It answered 410: it is gone."
    if answer.error and claim.has_failed_for_long:
        return f"Nothing could be delivered for {PATIENCE.days} days. The last try: {answer.error}"
    return ""


async def _get(session: Session, delivery_id: UUID) -> Delivery:
    args = {"id": delivery_id, "owner": session.caller.visible_owner}
    row = await session.row(SQL["get"], args)
    if row is None:
        raise NotFound(f"There is no delivery {delivery_id}.", remedies=(SEE_WEBHOOKS,))
    return _delivery(row)


def _delivery(row: DictRow) -> Delivery:
    return Delivery(**{**row, "state": DeliveryState(row["state"])})
