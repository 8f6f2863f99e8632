from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import (
    Name,
    Page,
    RequestModel,
    Time,
    Usd,
    path_id,
    read_body,
    read_query,
    services_of,
)
from chiron_api.http.responses import json_response, page_response
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


class SubscriptionRequest(RequestModel):
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
    recheck: bool = False


class SubscriptionPage(Page):
    """A page of the subscriptions, of one subject if it is named."""

    subject: Name | None = None


class TimesQuery(RequestModel):
    """How many occurrences to list, the latest first."""

    limit: Annotated[int, Field(ge=1, le=TIMES_MAX)] = 10


async def create(request: Request) -> Response:
    """Make a subscription: 201, or 200 with the existing one that equals it."""
    request_body = await read_body(request, SubscriptionRequest)
    new = NewSubscription(
        tuple(request_body.topics),
        request_body.subject,
        Recurrence(request_body.cron, request_body.time_zone),
        request_body.role,
        request_body.model or services_of(request).settings.model,
        request_body.budget_usd,
        request_body.ends_at,
        request_body.recheck,
    )
    async with services_of(request).store() as store:
        subscription, is_new = await store.subscriptions.create(new)
    headers = {"Location": f"/v1/subscriptions/{subscription.id}"}
    return json_response(subscription, HTTPStatus.CREATED if is_new else HTTPStatus.OK, headers=headers)


async def list_subscriptions(request: Request) -> Response:
    """Subscriptions, newest first, in pages; `next` is null on the last one."""
    page = read_query(request, SubscriptionPage)
    subject_id = slug(page.subject) if page.subject else None
    async with services_of(request).store() as store:
        subscriptions = await store.subscriptions.newest(
            limit=page.limit + 1, before=page.after, subject_id=subject_id
        )
    return page_response(subscriptions, page.limit)


async def list_times(request: Request) -> Response:
    """What each of its last occurrences changed, latest first."""
    options = read_query(request, TimesQuery)
    async with services_of(request).store() as store:
        subscription = await store.subscriptions.get(path_id(request))
        times = await last_occurrences(store.session, subscription.id, limit=options.limit)
    return json_response({"items": time_items(times)})


async def delete(request: Request) -> Response:
    """Delete a subscription; 204. What it has started goes on."""
    async with services_of(request).store() as store:
        await store.subscriptions.remove(path_id(request))
    return Response(status_code=HTTPStatus.NO_CONTENT)


async def apply(
    request: Request, method: Callable[[Subscriptions, UUID], Awaitable[Subscription]]
) -> Response:
    """The subscription, as it is or after it was paused or resumed; 409 where it cannot be."""
    async with services_of(request).store() as store:
        subscription = await method(store.subscriptions, path_id(request))
    return json_response(subscription)


routes = [
    Route("/v1/subscriptions", create, methods=["POST"]),
    Route("/v1/subscriptions", list_subscriptions),
    Route("/v1/subscriptions/{id}", partial(apply, method=Subscriptions.get)),
    Route("/v1/subscriptions/{id}", delete, methods=["DELETE"]),
    Route("/v1/subscriptions/{id}/times", list_times),
    Route("/v1/subscriptions/{id}/pause", partial(apply, method=Subscriptions.pause), methods=["POST"]),
    Route("/v1/subscriptions/{id}/resume", partial(apply, method=Subscriptions.resume), methods=["POST"]),
]
