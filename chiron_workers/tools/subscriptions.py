from decimal import Decimal
from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.batches.submit import TOPIC_CHARS_MAX
from chiron_workers.errors import Conflict, ToolError, UsageError
from chiron_workers.roles import RoleName
from chiron_workers.store import Store
from chiron_workers.subscriptions.cron import CHARS_MAX, Recurrence
from chiron_workers.subscriptions.subscriptions import TOPICS_MAX, NewSubscription, Subscription
from chiron_workers.toolkit import tool

REASON_CHARS_MAX = 2_000
Topic = Annotated[str, Field(min_length=1, max_length=TOPIC_CHARS_MAX)]
Usd = Annotated[Decimal, Field(gt=0)]


class Subscribed(TypedDict):
    """A subscription, and what is next."""

    subscription_id: str
    is_new: bool
    state: str
    reason: str
    next_at: str | None
    budget_usd: float | None
    recheck: bool


@tool
async def create_subscription(
    store: Store,
    *,
    topics: Annotated[list[Topic], Field(min_length=1, max_length=TOPICS_MAX)],
    subject_id: str,
    cron: Annotated[str, Field(max_length=CHARS_MAX)],
    time_zone: str = "UTC",
    role: RoleName = "research",
    budget_usd: Usd | None = None,
    recheck: bool = False,
) -> Subscribed:
    """Have topics researched again and again, at the times of a cron expression, and be told what is new each time.

    Use it only if you are asked for it, or if the topic changes and somebody needs to know. The same subscription made
    twice is one. What a run subscribes to is paused until a person starts it: say so where you report of it.

    Args:
        topics: What to research each time; each topic becomes a run of its own.
        subject_id: The subject that the facts belong to, by its id or its name.
        cron: When: minute, hour, day of the month, month, day of the week. "0 9 * * MON" is each Monday at 9:00.
        time_zone: Whose clock that is, such as Europe/Berlin.
        role: Which agent works on the topics.
        budget_usd: What all topics together may cost each time; at most what this run and its batch may cost.
        recheck: Also read the sources of the subject's facts again each time, and mark what they no longer say.

    Returns:
        subscription_id, is_new (false where there was the same one already), state, reason (why it is paused, and how a
        person starts it), next_at (when it is due first, null while it is paused), budget_usd and recheck.
    """
    if await store.egress.is_tainted():
        raise ToolError(
            "This run has read private files, so it orders no further research: the topics could carry their words out."
        )
    recurrence = Recurrence(cron, time_zone)
    new = NewSubscription(tuple(topics), subject_id, recurrence, role, budget_usd=budget_usd, recheck=recheck)
    try:
        subscription, is_new = await store.subscriptions.create(new)
    except (UsageError, Conflict) as error:
        raise ToolError(str(error)) from None
    return _to_result(subscription, is_new=is_new)


@tool(needs_run=True)
async def silent_exit(
    store: Store, *, reason: Annotated[str, Field(min_length=1, max_length=REASON_CHARS_MAX)]
) -> str:
    """End a run that recurs and found nothing new, without bothering anybody. The run ends at once.

    Only a run that a subscription started can end so. Store first what you want to keep.

    Args:
        reason: Where you looked, and why there is nothing to tell.

    Returns:
        The reason.
    """
    if not reason.strip():
        raise ToolError("reason: say where you looked, and why there is nothing to tell.")
    if not await store.subscriptions.started_this_run():
        raise ToolError("No subscription started this run, so somebody waits for its answer: write it.")
    store.session.ends_silently = True
    return reason


def _to_result(subscription: Subscription, *, is_new: bool) -> Subscribed:
    return Subscribed(
        subscription_id=str(subscription.id),
        is_new=is_new,
        state=subscription.state,
        reason=subscription.reason,
        next_at=subscription.next_at.isoformat() if subscription.next_at else None,
        budget_usd=None if subscription.budget_usd is None else float(subscription.budget_usd),
        recheck=subscription.recheck,
    )
