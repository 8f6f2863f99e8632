from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from chiron_api.acts.inputs import Flag, Input, Name, Page, Time, Usd
from chiron_api.answers.subjects import Subscription as SubscriptionAnswer
from chiron_api.answers.subjects import SubscriptionList, SubscriptionTimeList
from chiron_api.http.dependencies import ServicesOf, StoreOpener
from chiron_api.http.descriptions import LOCATION, answers
from chiron_api.http.responses import json_response, page_response
from chiron_api.http.routing import api_router
from chiron_api.views.subscriptions import TIMES_MAX, time_items
from chiron_workers.batches.submit import TOPIC_CHARS_MAX
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.subscriptions.cron import Recurrence
from chiron_workers.subscriptions.occurrences import last_occurrences
from chiron_workers.subscriptions.subscriptions import (
    TOPICS_MAX,
    NewSubscription,
    Subscription,
    Subscriptions,
)

router = api_router("Subscriptions")


class SubscriptionRequest(Input):
    """A subscription to make: topics, and when to research them."""

    topics: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=TOPIC_CHARS_MAX)]],
        Field(min_length=1, max_length=TOPICS_MAX),
    ]
    subject: Name
    cron: Name
    time_zone: Name = "UTC"
    role: Name = "research"
    model: Name | None = None
    budget_usd: Usd | None = None
    ends_at: Time | None = None
    recheck: Flag = False


class SubscriptionPage(Page):
    """A page of the subscriptions, of one subject if it is named."""

    subject: Name | None = None


class TimesQuery(Input):
    """How many occurrences to list, the latest first."""

    limit: Annotated[int, Field(ge=1, le=TIMES_MAX)] = 10


@router.post(
    "/v1/subscriptions",
    status_code=HTTPStatus.CREATED,
    summary="Subscribe to a subject",
    response_model=SubscriptionAnswer,
    responses=answers(HTTPStatus.CONFLICT, located=HTTPStatus.CREATED)
    | {200: LOCATION | {"model": SubscriptionAnswer, "description": "The one that is there already."}},
)
async def create_subscription(
    request_body: SubscriptionRequest, services: ServicesOf, open_store: StoreOpener
) -> Response:
    """Make a subscription: 201, or 200 with the existing one that equals it."""
    new = NewSubscription(
        tuple(request_body.topics),
        request_body.subject,
        Recurrence(request_body.cron, request_body.time_zone),
        request_body.role,
        request_body.model or services.settings.model,
        request_body.budget_usd,
        request_body.ends_at,
        request_body.recheck,
    )
    async with open_store() as store:
        subscription, is_new = await store.subscriptions.create(new)
    headers = {"Location": f"/v1/subscriptions/{subscription.id}"}
    return json_response(subscription, HTTPStatus.CREATED if is_new else HTTPStatus.OK, headers=headers)


@router.get("/v1/subscriptions", summary="List the subscriptions", response_model=SubscriptionList)
async def list_subscriptions(page: Annotated[SubscriptionPage, Query()], open_store: StoreOpener) -> Response:
    """Subscriptions, newest first, in pages; `next` is null on the last one."""
    subject_id = slug(page.subject) if page.subject else None
    async with open_store() as store:
        subscriptions = await store.subscriptions.newest(
            limit=page.limit + 1, before=page.after, subject_id=subject_id
        )
    return page_response(subscriptions, page.limit)


@router.get(
    "/v1/subscriptions/{id}/times",
    summary="List the times of a subscription",
    response_model=SubscriptionTimeList,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def list_subscription_times(
    id: UUID, options: Annotated[TimesQuery, Query()], open_store: StoreOpener
) -> Response:
    """What each of its last occurrences changed, latest first."""
    async with open_store() as store:
        subscription = await store.subscriptions.get(id)
        times = await last_occurrences(store.session, subscription.id, limit=options.limit)
    return json_response({"items": time_items(times)})


@router.delete(
    "/v1/subscriptions/{id}",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Delete a subscription",
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def delete_subscription(id: UUID, open_store: StoreOpener) -> Response:
    """Delete a subscription; 204. What it has started goes on."""
    async with open_store() as store:
        await store.subscriptions.remove(id)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@router.get(
    "/v1/subscriptions/{id}",
    summary="Show a subscription",
    response_model=SubscriptionAnswer,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def show_subscription(id: UUID, open_store: StoreOpener) -> Response:
    """When it is due next, what it started last, and why it is paused or passed a time over."""
    return await _apply(id, open_store, Subscriptions.get)


@router.post(
    "/v1/subscriptions/{id}/pause",
    summary="Pause a subscription",
    response_model=SubscriptionAnswer,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def pause_subscription(id: UUID, open_store: StoreOpener) -> Response:
    """The subscription, which is not due until it is resumed; 409 if it has ended."""
    return await _apply(id, open_store, Subscriptions.pause)


@router.post(
    "/v1/subscriptions/{id}/resume",
    summary="Resume a subscription",
    response_model=SubscriptionAnswer,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def resume_subscription(id: UUID, open_store: StoreOpener) -> Response:
    """The subscription with the time that it is due next; 409 if it has ended."""
    return await _apply(id, open_store, Subscriptions.resume)


async def _apply(
    id: UUID, open_store: StoreOpener, method: Callable[[Subscriptions, UUID], Awaitable[Subscription]]
) -> Response:
    async with open_store() as store:
        subscription = await method(store.subscriptions, id)
    return json_response(subscription)
