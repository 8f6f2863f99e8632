"""Subscriptions: research that recurs."""

from collections.abc import Sequence
from datetime import datetime

from chiron_api.answers.subjects import (
    Subscription,
    SubscriptionList,
    SubscriptionTime,
    SubscriptionTimeList,
)
from chiron_api.client.call import Call, Listing, fields, get, pages
from chiron_api.client.calls.batches import Money
from chiron_api.client.targets import Id

SubscriptionRef = Id | Subscription


def subscribe(  # noqa: PLR0913  # the fields of a subscription
    topics: Sequence[str],
    *,
    subject: str,
    cron: str,
    time_zone: str | None = None,
    role: str | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    ends_at: datetime | None = None,
    recheck: bool | None = None,
) -> Call[Subscription]:
    """Have topics researched at each time of `cron`; the subscription that is there if it is the same.

    Args:
        budget_usd: What all topics together may cost each time.
        recheck: Read the sources of the subject again each time, too.
    """
    body = fields(
        topics=list(topics),
        subject=subject,
        cron=cron,
        time_zone=time_zone,
        role=role,
        model=model,
        budget_usd=budget_usd,
        ends_at=ends_at,
        recheck=recheck,
    )
    return Call("POST", "/v1/subscriptions", Subscription, body=body, is_repeatable=True)


def subscriptions(subject: str | None = None) -> Listing[Subscription]:
    """All subscriptions, or those of a subject, newest first; pages are fetched as they are needed."""
    return pages("/v1/subscriptions", SubscriptionList, subject=subject)


def subscription(subscription: SubscriptionRef) -> Call[Subscription]:
    """When it is due next, what it started last, and why it is paused or passed a time over."""
    return get("/v1/subscriptions/{id}", Subscription, target=_id(subscription))


def subscription_times(subscription: SubscriptionRef, *, limit: int = 10) -> Call[list[SubscriptionTime]]:
    """What each of its last times has brought, latest first."""
    path = "/v1/subscriptions/{id}/times"
    return get(path, SubscriptionTimeList, target=_id(subscription), part="items", query={"limit": limit})


def pause_subscription(subscription: SubscriptionRef) -> Call[Subscription]:
    """Have it due no more until it is resumed."""
    path = "/v1/subscriptions/{id}/pause"
    return Call("POST", path, Subscription, target=_id(subscription), is_repeatable=True)


def resume_subscription(subscription: SubscriptionRef) -> Call[Subscription]:
    """Have it due again at its next time."""
    path = "/v1/subscriptions/{id}/resume"
    return Call("POST", path, Subscription, target=_id(subscription), is_repeatable=True)


def delete_subscription(subscription: SubscriptionRef) -> Call[None]:
    """Delete a subscription. What it has started goes on."""
    return Call("DELETE", "/v1/subscriptions/{id}", None, target=_id(subscription))


def _id(subscription: SubscriptionRef) -> str:
    return str(subscription.id if isinstance(subscription, Subscription) else subscription)
