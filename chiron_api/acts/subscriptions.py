"""Subscriptions: research that recurs."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Created, Noun, Target, ToolFace
from chiron_api.acts.inputs import Flag, Input, Name, Page, Time, Usd
from chiron_api.answers.runs import SubmitReceipt
from chiron_api.answers.subjects import (
    Subscription,
    SubscriptionList,
    SubscriptionTime,
    SubscriptionTimeList,
)
from chiron_api.services import Services
from chiron_workers.batches.submit import CONTEXT_CHARS_MAX, TOPIC_CHARS_MAX
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.subscriptions import subscriptions as engine
from chiron_workers.subscriptions.cron import CHARS_MAX, Recurrence
from chiron_workers.subscriptions.occurrences import PastOccurrence, last_occurrences
from chiron_workers.subscriptions.subscriptions import TOPICS_MAX, NewSubscription, Subscriptions

SUBSCRIPTIONS = Noun("Subscriptions", Target("subscription", (Subscription,)))
CHANGE_PROBLEMS = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)
TIMES_MAX = 100
ID_WORDS = "The subscription, by its id, as list_subscriptions gives it."


class SubscriptionRequest(Input):
    """A subscription to make: topics, and when to research them."""

    topics: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=TOPIC_CHARS_MAX)]],
        Field(min_length=1, max_length=TOPICS_MAX, description="What to research each time."),
    ]
    subject: Name = Field(description="Subject the facts belong to; any name.")
    cron: Annotated[
        str,
        Field(
            min_length=1,
            max_length=CHARS_MAX,
            description='When: minute, hour, day, month, weekday. "0 9 * * MON" is each Monday at 9:00.',
        ),
    ]
    time_zone: Name = Field("UTC", description="Whose clock that is, such as Europe/Berlin.")
    role: Name = Field(
        "research", description="Which agent works on the topics: one of Chiron, or of CHIRON_ROLES."
    )
    model: Name | None = Field(None, description="Model of the runs. Default: CHIRON_MODEL.")
    budget_usd: Usd | None = Field(
        None,
        description="What all topics together may cost each time. Default, and most: CHIRON_RUN_BUDGET_USD.",
    )
    ends_at: Time | None = Field(None, description="When it ends, such as 2026-12-31. Default: never.")
    context: Annotated[str, Field(max_length=CONTEXT_CHARS_MAX)] | None = Field(
        None, description="Background to the topics, in your words; each of their runs gets it."
    )
    recheck: Flag = Field(False, description="Also read the sources of the subject's facts again each time.")


class SubscriptionPage(Page):
    """A page of the subscriptions, of one subject if it is named."""

    subject: Name | None = Field(None, description="Only those of this subject.")


class TimesQuery(Input):
    """How many occurrences to list, the latest first."""

    limit: Annotated[int, Field(ge=1, le=TIMES_MAX, description="Times at most, the latest first.")] = 10


@SUBSCRIPTIONS.act(
    "subscriptions.create",
    "POST /v1/subscriptions",
    "Subscribe to a subject",
    client="subscribe",
    faces=("tool create_subscription", "POST /schedules"),
    tool_target="subscription_id",
    status=HTTPStatus.CREATED,
    location="/v1/subscriptions/{id}",
    problems=(HTTPStatus.CONFLICT,),
    costs_money=True,
    repeatable=True,
)
async def create_subscription(services: Services, body: SubscriptionRequest) -> Created[Subscription]:
    """Have topics researched at each time of `cron`. Where there is a subscription that equals it, that is the answer.

    409 if the subject has as many active ones as it may have, or if the one that is there has another model, budget, end or
    `recheck`.
    """
    new = NewSubscription(
        tuple(body.topics),
        body.subject,
        Recurrence(body.cron, body.time_zone),
        body.role,
        body.model or services.settings.model,
        body.budget_usd,
        body.ends_at,
        body.recheck,
        (body.context or "").strip() or None,
    )
    async with services.session() as session:
        subscription, is_new = await Subscriptions(session).create(new)
    return Created(Subscription.model_validate(subscription), is_new)


@SUBSCRIPTIONS.act(
    "subscriptions.list",
    "GET /v1/subscriptions",
    "List the subscriptions",
    client="subscriptions",
    faces=("GET /schedules",),
    tool=ToolFace(
        "list_subscriptions",
        next_step="run_subscription, pause_subscription and resume_subscription take an id.",
    ),
)
async def list_subscriptions(services: Services, page: SubscriptionPage) -> SubscriptionList:
    """Subscriptions, newest first, in pages; `next` is null on the last one."""
    subject_id = slug(page.subject) if page.subject else None
    async with services.session() as session:
        subscriptions = await Subscriptions(session).newest(
            limit=page.limit + 1, before=page.after, subject_id=subject_id
        )
    return SubscriptionList.model_validate(page.of(subscriptions))


@SUBSCRIPTIONS.act(
    "subscriptions.read",
    "GET /v1/subscriptions/{id}/times",
    "List the times of a subscription",
    client="subscription_times",
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def list_subscription_times(services: Services, id: UUID, options: TimesQuery) -> SubscriptionTimeList:
    """What each of its last occurrences changed, latest first."""
    async with services.session() as session:
        subscription = await Subscriptions(session).get(id)
        occurrences = await last_occurrences(session, subscription.id, limit=options.limit)
    return SubscriptionTimeList(items=[_time(occurrence) for occurrence in occurrences])


@SUBSCRIPTIONS.act(
    "subscriptions.read",
    "GET /v1/subscriptions/{id}",
    "Show a subscription",
    client="subscription",
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def show_subscription(services: Services, id: UUID) -> Subscription:
    """When it is due next, what it started last, and why it is paused or passed a time over."""
    return await _apply(services, id, Subscriptions.get)


@SUBSCRIPTIONS.act(
    "subscriptions.pause",
    "POST /v1/subscriptions/{id}/pause",
    "Pause a subscription",
    client="pause_subscription",
    faces=("POST /schedules/{id}/pause",),
    problems=CHANGE_PROBLEMS,
    is_owned=True,
    repeatable=True,
    tool=ToolFace("pause_subscription", "subscription_id", ID_WORDS, target="subscription_id"),
)
async def pause_subscription(services: Services, id: UUID) -> Subscription:
    """Have a subscription due no more until it is resumed. One that has ended is refused."""
    return await _apply(services, id, Subscriptions.pause)


@SUBSCRIPTIONS.act(
    "subscriptions.resume",
    "POST /v1/subscriptions/{id}/resume",
    "Resume a subscription",
    client="resume_subscription",
    faces=("POST /schedules/{id}/resume",),
    problems=CHANGE_PROBLEMS,
    is_owned=True,
    repeatable=True,
    tool=ToolFace(
        "resume_subscription",
        "subscription_id",
        ID_WORDS,
        target="subscription_id",
        next_step="It may have been made by a run, from words of a page: resume it for a person alone.",
    ),
)
async def resume_subscription(services: Services, id: UUID) -> Subscription:
    """Have a subscription due again at its next time. One that has ended is refused."""
    return await _apply(services, id, Subscriptions.resume)


@SUBSCRIPTIONS.act(
    "subscriptions.run",
    "POST /v1/subscriptions/{id}/run",
    "Run a subscription now",
    client="run_subscription",
    faces=("POST /schedules/{id}/run",),
    status=HTTPStatus.CREATED,
    location="/v1/batches/{batch_id}",
    problems=(HTTPStatus.PAYMENT_REQUIRED, *CHANGE_PROBLEMS),
    costs_money=True,
    is_owned=True,
    repeatable=True,
    tool=ToolFace(
        "run_subscription",
        "subscription_id",
        ID_WORDS,
        target="subscription_id",
        next_step="""
            get_run tells how far it is. One that is paused may have been made by a run, from words of a page: run it for a
            person alone.
        """,
    ),
)
async def run_subscription(services: Services, id: UUID) -> Created[SubmitReceipt]:
    """Start a time of a subscription now, also of a paused one. Its next time stays, and the key that acts pays.

    409 while the batch of the time before is not finished, or if the subscription has ended.
    """
    from chiron_workers.subscriptions.scheduler import start_now  # which showing help does without

    submission = await start_now(services.pool, id, principal=services.principal)
    await services.notify(submission.batch_id)
    return Created(SubmitReceipt.model_validate(submission), submission.is_new)


@SUBSCRIPTIONS.act(
    "subscriptions.delete",
    "DELETE /v1/subscriptions/{id}",
    "Delete a subscription",
    client="delete_subscription",
    faces=("POST /schedules/{id}/delete",),
    status=HTTPStatus.NO_CONTENT,
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def delete_subscription(services: Services, id: UUID) -> None:
    """Delete a subscription. Batches that it started continue."""
    async with services.session() as session:
        await Subscriptions(session).remove(id)


async def _apply(
    services: Services, id: UUID, method: Callable[[Subscriptions, UUID], Awaitable[engine.Subscription]]
) -> Subscription:
    async with services.session() as session:
        return Subscription.model_validate(await method(Subscriptions(session), id))


def _time(occurrence: PastOccurrence) -> SubscriptionTime:
    difference = occurrence.difference
    return SubscriptionTime(
        batch_id=occurrence.batch_id,
        due_at=occurrence.due_at,
        since=occurrence.since,
        finished_at=occurrence.finished_at,
        is_empty=difference.is_empty if difference else None,
        counts=difference.counts if difference else None,
    )
