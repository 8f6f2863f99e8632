"""Webhooks and their deliveries."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from chiron_api.answers.basics import Answer

NoticeKind = Literal[
    "run.completed",
    "run.failed",
    "run.cancelled",
    "run.paused",
    "batch.completed",
    "budget.reached",
    "subscription.news",
]


class LastDelivery(Answer):
    """The newest delivery of a webhook, without what it sends."""

    id: UUID
    kind: NoticeKind | Literal["webhook.test"]
    state: Literal["waiting", "delivered", "failed"]
    status: int | None
    error: str
    created_at: datetime
    finished_at: datetime | None


class Webhook(Answer):
    """Where an owner hears of what happens. `reason` says why it is off.

    `failing_since` is the first failure after its last success. Of one for Slack only the host is shown.
    """

    id: UUID
    owner: str
    url: str
    kinds: list[NoticeKind]
    format: Literal["standard", "slack", "mail"]
    state: Literal["active", "paused", "off"]
    reason: str
    failing_since: datetime | None
    created_at: datetime
    last_delivery: LastDelivery | None


class NewWebhook(Webhook):
    """A webhook just made, with the secret that signs its deliveries, which is shown this once."""

    secret: str


class WebhookList(Answer):
    """A page of webhooks, newest first; `next` is the `after` of the next page, null on the last."""

    items: list[Webhook]
    next: UUID | None


class Delivery(Answer):
    """What is sent to a webhook. `status` and `error` are of the last try, `due_at` is null unless it waits."""

    id: UUID
    webhook_id: UUID
    kind: NoticeKind | Literal["webhook.test"]
    payload: dict[str, Any]
    state: Literal["waiting", "delivered", "failed"]
    tries: int
    due_at: datetime | None
    status: int | None
    error: str
    created_at: datetime
    finished_at: datetime | None


class DeliveryList(Answer):
    """A page of the deliveries of a webhook, newest first; `next` is the `after` of the next page, null on the last."""

    items: list[Delivery]
    next: UUID | None
