"""Webhooks: who is told what happens, and what was sent."""

from collections.abc import Sequence
from typing import Literal

from chiron_api.answers.webhooks import (
    Delivery,
    DeliveryList,
    NewWebhook,
    NoticeKind,
    Webhook,
    WebhookList,
)
from chiron_api.client.call import Call, Listing, fields, get, pages
from chiron_api.client.targets import Id

WebhookFormat = Literal["standard", "slack", "mail"]
WebhookRef = Id | Webhook


def create_webhook(
    url: str, *, kinds: Sequence[NoticeKind] | None = None, format: WebhookFormat | None = None
) -> Call[NewWebhook]:
    """Make a webhook; `secret` of what it gives signs its deliveries, and no later answer shows it.

    Args:
        url: Where to, `https:` or `mailto:`.
        kinds: What is told; without them what the server tells by default.
    """
    body = fields(url=url, kinds=None if kinds is None else list(kinds), format=format)
    return Call("POST", "/v1/webhooks", NewWebhook, body=body)


def webhooks() -> Listing[Webhook]:
    """All webhooks, newest first, without their secrets."""
    return pages("/v1/webhooks", WebhookList)


def webhook(webhook: WebhookRef) -> Call[Webhook]:
    """A webhook, and why it is off if it is."""
    return get("/v1/webhooks/{id}", Webhook, target=_id(webhook))


def remove_webhook(webhook: WebhookRef) -> Call[None]:
    """Remove a webhook with its deliveries."""
    return Call("DELETE", "/v1/webhooks/{id}", None, target=_id(webhook))


def send_webhook_test(webhook: WebhookRef) -> Call[Delivery]:
    """Have a delivery sent that says nothing. A webhook that is off is turned on again."""
    return Call("POST", "/v1/webhooks/{id}/test", Delivery, target=_id(webhook))


def deliveries(webhook: WebhookRef) -> Listing[Delivery]:
    """What a webhook was sent or is to be sent, newest first."""
    return pages("/v1/webhooks/{id}/deliveries", DeliveryList, target=_id(webhook))


def resend_delivery(delivery: Id | Delivery) -> Call[Delivery]:
    """Have a delivery sent again under the same id. Raises Refused where its webhook is off."""
    target = str(delivery.id if isinstance(delivery, Delivery) else delivery)
    return Call("POST", "/v1/deliveries/{id}/resend", Delivery, target=target)


def _id(webhook: WebhookRef) -> str:
    return str(webhook.id if isinstance(webhook, Webhook) else webhook)
