"""What can be asked of the API: the acts as requests. Written by `docs/generate.py` from `chiron_api.acts`."""

# ruff: noqa: PLR0913  # a parameter for each option
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from chiron_api.answers.basics import Receipt
from chiron_api.answers.facts import Fact, FoundFact
from chiron_api.answers.keys import AuditEntry, AuditTrail, Key, KeyList, NewKey
from chiron_api.answers.lessons import Lesson, LessonLine, LessonList
from chiron_api.answers.reports import Report
from chiron_api.answers.rows import Row, RowList
from chiron_api.answers.runs import Batch, Run, RunReceipt, RunResult, Steering, WritingReceipt
from chiron_api.answers.subjects import Subscription, SubscriptionList, SubscriptionTime, SubscriptionTimeList
from chiron_api.answers.webhooks import Delivery, DeliveryList, NewWebhook, Webhook, WebhookList
from chiron_api.client.call import Call, Listing, fields, get, pages
from chiron_api.client.targets import Id, id_of, target_of

Money = Decimal | float
AccessScope = Literal["read", "submit", "admin"]
BudgetPeriod = Literal["day", "total"]
NoticeKind = Literal[
    "run.completed",
    "run.failed",
    "run.cancelled",
    "run.paused",
    "batch.completed",
    "budget.reached",
    "subscription.news",
    "webhook.test",
]
WebhookFormat = Literal["standard", "slack", "mail"]


def audit_trail(owner: str | None = None) -> Listing[AuditEntry]:
    """Acts that changed something, newest first, in pages; `next` is null on the last one."""
    return pages("/v1/audit", AuditTrail, owner=owner)


def cancel(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """End all open runs of a batch. What a worker plays ends when the worker learns of it."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/cancel", Steering, target=target, body=fields())


def create_key(
    name: str,
    scope: AccessScope,
    *,
    owner: str = "",
    expires_at: datetime | None = None,
    budget_usd: Money | None = None,
    budget_period: BudgetPeriod = "total",
    requests_per_minute: int | None = None,
) -> Call[NewKey]:
    """Make a key; `key` of the answer is its secret, which no later answer shows. A name that is in use is refused."""
    return Call(
        "POST",
        "/v1/keys",
        NewKey,
        body=fields(
            name=name,
            scope=scope,
            owner=owner,
            expires_at=expires_at,
            budget_usd=budget_usd,
            budget_period=budget_period,
            requests_per_minute=requests_per_minute,
        ),
    )


def create_webhook(
    url: str, *, kinds: Sequence[NoticeKind] | None = None, format: WebhookFormat | None = None
) -> Call[NewWebhook]:
    """Make a webhook; `secret` of the answer signs its deliveries, and no later answer shows it. An owner has only so many.

    Args:
        url: Where to, `https:` or `mailto:`.
        kinds: What is sent; without them all but the ends of runs that are completed or cancelled.
    """
    return Call("POST", "/v1/webhooks", NewWebhook, body=fields(url=url, kinds=kinds, format=format))


def delete_subscription(subscription: Id | Subscription) -> Call[None]:
    """Delete a subscription. What it has started goes on."""
    return Call("DELETE", "/v1/subscriptions/{id}", None, target=id_of("subscription", subscription))


def deliveries(webhook: Id | Webhook) -> Listing[Delivery]:
    """What a webhook was sent or is to be sent, newest first, in pages; it is kept for 30 days after its end."""
    return pages("/v1/webhooks/{id}/deliveries", DeliveryList, target=id_of("webhook", webhook))


def fact(fact: Id | Fact | FoundFact) -> Call[Fact]:
    """A fact with its sources, the explanation of its confidence, what contradicts it, and its history."""
    return get("/v1/facts/{id}", Fact, target=id_of("fact", fact))


def keys(with_revoked: bool = False) -> Call[list[Key]]:
    """The keys, oldest first, without their secrets; `left_usd` is what each has left of its budget."""
    return get("/v1/keys", KeyList, part="items", query=fields(revoked=with_revoked))


def lesson(lesson: Id | LessonLine) -> Call[Lesson]:
    """A lesson with its facts, and which of its sentences are stale and why."""
    return get("/v1/lessons/{id}", Lesson, target=id_of("lesson", lesson), query=fields(format="json"))


def lessons(subject: str, *, node: str | None = None, drafts: bool = False) -> Call[list[LessonLine]]:
    """The lessons of a subject or of one of its nodes, newest first; 500 at most.

    Args:
        node: Of this node alone, by its id or title.
        drafts: Also lessons that are not handed in.
    """
    return get(
        "/v1/subjects/{id}/lessons",
        LessonList,
        target=id_of("subject", subject),
        part="items",
        query=fields(node=node, drafts=drafts),
    )


def pause(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """Put all open runs of a batch aside. A worker finishes the model call it is in."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/pause", Steering, target=target, body=fields())


def pause_subscription(subscription: Id | Subscription) -> Call[Subscription]:
    """Have a subscription due no more until it is resumed. One that has ended is refused."""
    return Call(
        "POST",
        "/v1/subscriptions/{id}/pause",
        Subscription,
        target=id_of("subscription", subscription),
        is_repeatable=True,
    )


def reinstate(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Take a withdrawal back. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/reinstate", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )


def remove_webhook(webhook: Id | Webhook) -> Call[None]:
    """Remove a webhook with its deliveries."""
    return Call("DELETE", "/v1/webhooks/{id}", None, target=id_of("webhook", webhook))


def report(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    subject: str | None = None,
    candidates: bool = False,
) -> Call[Report]:
    """What the runs of a batch found, with sources.

    Args:
        candidates: Also facts that are not sure enough, marked.
    """
    folder, target = target_of(batch, run, subject)
    return get(
        f"/v1/{folder}/{{id}}/report",
        Report,
        target=target,
        query=fields(format="json", candidates=candidates),
    )


def resend_delivery(delivery: Id | Delivery) -> Call[Delivery]:
    """Have a worker send a delivery at once, under the same id. It is refused where the webhook is off."""
    return Call("POST", "/v1/deliveries/{id}/resend", Delivery, target=id_of("delivery", delivery))


def resume(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
) -> Call[Steering]:
    """Let what was paused go on; with a higher budget where that is spent."""
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/resume",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens),
    )


def resume_subscription(subscription: Id | Subscription) -> Call[Subscription]:
    """Have a subscription due again at its next time. One that has ended is refused."""
    return Call(
        "POST",
        "/v1/subscriptions/{id}/resume",
        Subscription,
        target=id_of("subscription", subscription),
        is_repeatable=True,
    )


def retry(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    from_scratch: bool = False,
) -> Call[Steering]:
    """Try what failed or was cancelled again, from where it ended."""
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/retry",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens, from_scratch=from_scratch),
    )


def revoke_key(name: str) -> Call[None]:
    """End a key for good. Servers refuse it within five seconds, and what it submitted goes on."""
    return Call("DELETE", "/v1/keys/{name}", None, target=id_of("name", name))


def rows(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Listing[Row]:
    """What the runs of a batch handed in, in the order of its topics: pages of JSON, or one table as CSV or XLSX."""
    folder, target = target_of(batch, run)
    return pages(f"/v1/{folder}/{{id}}/rows", RowList, target=target, format="json")


def send_webhook_test(webhook: Id | Webhook) -> Call[Delivery]:
    """Have a delivery sent that says nothing. A webhook that is off is turned on again."""
    return Call("POST", "/v1/webhooks/{id}/test", Delivery, target=id_of("webhook", webhook))


def subscribe(
    topics: Sequence[str],
    subject: str,
    cron: str,
    *,
    time_zone: str = "UTC",
    role: str = "research",
    model: str | None = None,
    budget_usd: Money | None = None,
    ends_at: datetime | None = None,
    recheck: bool = False,
) -> Call[Subscription]:
    """Have topics researched at each time of `cron`. Where there is a subscription that equals it, that is the answer.

    Args:
        budget_usd: What all topics together may cost each time.
        recheck: Read the sources of the subject again each time, too.
    """
    return Call(
        "POST",
        "/v1/subscriptions",
        Subscription,
        body=fields(
            topics=topics,
            subject=subject,
            cron=cron,
            time_zone=time_zone,
            role=role,
            model=model,
            budget_usd=budget_usd,
            ends_at=ends_at,
            recheck=recheck,
        ),
        is_repeatable=True,
    )


def subscription(subscription: Id | Subscription) -> Call[Subscription]:
    """When it is due next, what it started last, and why it is paused or passed a time over."""
    return get("/v1/subscriptions/{id}", Subscription, target=id_of("subscription", subscription))


def subscription_times(subscription: Id | Subscription, limit: int = 10) -> Call[list[SubscriptionTime]]:
    """What each of its last occurrences changed, latest first."""
    return get(
        "/v1/subscriptions/{id}/times",
        SubscriptionTimeList,
        target=id_of("subscription", subscription),
        part="items",
        query=fields(limit=limit),
    )


def subscriptions(subject: str | None = None) -> Listing[Subscription]:
    """Subscriptions, newest first, in pages; `next` is null on the last one."""
    return pages("/v1/subscriptions", SubscriptionList, subject=subject)


def webhook(webhook: Id | Webhook) -> Call[Webhook]:
    """A webhook without its secret, and why it is off if it is."""
    return get("/v1/webhooks/{id}", Webhook, target=id_of("webhook", webhook))


def webhooks() -> Listing[Webhook]:
    """Webhooks, newest first, in pages; `next` is null on the last one."""
    return pages("/v1/webhooks", WebhookList)


def withdraw(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/withdraw", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )


def write_lesson(
    subject: str,
    node: str,
    *,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[WritingReceipt]:
    """Have a run write a lesson on a node of a subject's map, from stored facts alone.

    It answers at once; once the batch has ended, the lessons of the subject have it. `is_new` is false where the same
    facts were taught from before.

    Args:
        model: The model that writes; left out, the configured one.
        budget_usd: What it may cost in USD; it pauses there.
        budget_tokens: How many tokens it may take; it pauses there.
        again: Also where the facts are the same as the last time.
        node: The node, by its id or its title.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/lessons",
        WritingReceipt,
        target=id_of("subject", subject),
        body=fields(model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again, node=node),
        is_repeatable=not again,
    )


def write_report(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    subject: str | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[WritingReceipt]:
    """Have a run write an answer from the facts of a batch. `is_new` is false where that was done before.

    Args:
        model: The model that writes; left out, the configured one.
        budget_usd: What it may cost in USD; it pauses there.
        budget_tokens: How many tokens it may take; it pauses there.
        again: Also where the facts are the same as the last time.
    """
    folder, target = target_of(batch, run, subject)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/report",
        WritingReceipt,
        target=target,
        body=fields(model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again),
        is_repeatable=not again,
    )
