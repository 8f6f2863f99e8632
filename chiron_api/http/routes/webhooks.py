from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from chiron_api.acts.inputs import Input, Page
from chiron_api.answers.webhooks import Delivery, DeliveryList, Webhook, WebhookList
from chiron_api.answers.webhooks import NewWebhook as NewWebhookAnswer
from chiron_api.http.dependencies import StoreOpener
from chiron_api.http.descriptions import answers
from chiron_api.http.responses import json_response, page_response
from chiron_api.http.routing import api_router
from chiron_workers.states import NoticeKind, WebhookFormat
from chiron_workers.webhooks.deliveries import newest_deliveries, resend, send_test
from chiron_workers.webhooks.webhooks import DEFAULT_KINDS, KINDS, URL_CHARS_MAX, NewWebhook, Webhooks

router = api_router("Webhooks")


class WebhookRequest(Input):
    """A webhook to make: where to, of what, and in which form (mail for mailto:, else `standard`)."""

    url: Annotated[str, Field(min_length=1, max_length=URL_CHARS_MAX)]
    kinds: Annotated[list[NoticeKind], Field(min_length=1, max_length=len(KINDS))] = Field(
        default_factory=lambda: list(DEFAULT_KINDS)
    )
    format: WebhookFormat | None = None


@router.post(
    "/v1/webhooks",
    status_code=HTTPStatus.CREATED,
    summary="Make a webhook",
    response_model=NewWebhookAnswer,
    responses=answers(HTTPStatus.CONFLICT, located=HTTPStatus.CREATED),
)
async def create_webhook(request_body: WebhookRequest, open_store: StoreOpener) -> Response:
    """The webhook with its secret, which nobody is shown again; 409 where its owner has as many as one may have."""
    new = NewWebhook(request_body.url, request_body.kinds, request_body.format)
    async with open_store() as store:
        secret, webhook = await Webhooks(store.session).create(new)
    headers = {"Location": f"/v1/webhooks/{webhook.id}", "Cache-Control": "no-store"}
    return json_response({**asdict(webhook), "secret": secret}, HTTPStatus.CREATED, headers=headers)


@router.get("/v1/webhooks", summary="List the webhooks", response_model=WebhookList)
async def list_webhooks(page: Annotated[Page, Query()], open_store: StoreOpener) -> Response:
    """Webhooks, newest first, in pages; `next` is null on the last one."""
    async with open_store() as store:
        webhooks = await Webhooks(store.session).newest(limit=page.limit + 1, before=page.after)
    return page_response(webhooks, page.limit)


@router.get(
    "/v1/webhooks/{id}",
    summary="Show a webhook",
    response_model=Webhook,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def show_webhook(id: UUID, open_store: StoreOpener) -> Response:
    """A webhook without its secret, and why it is off if it is."""
    async with open_store() as store:
        return json_response(await Webhooks(store.session).get(id))


@router.delete(
    "/v1/webhooks/{id}",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Remove a webhook",
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def remove_webhook(id: UUID, open_store: StoreOpener) -> Response:
    """Remove a webhook with its deliveries; 204."""
    async with open_store() as store:
        await Webhooks(store.session).remove(id)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@router.post(
    "/v1/webhooks/{id}/test",
    status_code=HTTPStatus.ACCEPTED,
    summary="Try a webhook",
    response_model=Delivery,
    responses=answers(HTTPStatus.NOT_FOUND, located=HTTPStatus.ACCEPTED),
)
async def send_webhook_test(id: UUID, open_store: StoreOpener) -> Response:
    """Have a delivery sent that says nothing: 202. A webhook that is off is turned on again."""
    async with open_store() as store:
        delivery = await send_test(store.session, id)
    headers = {"Location": f"/v1/webhooks/{id}/deliveries"}
    return json_response(delivery, HTTPStatus.ACCEPTED, headers=headers)


@router.get(
    "/v1/webhooks/{id}/deliveries",
    summary="List the deliveries of a webhook",
    response_model=DeliveryList,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def list_deliveries(id: UUID, page: Annotated[Page, Query()], open_store: StoreOpener) -> Response:
    """What a webhook was sent or is to be sent, newest first, in pages; it is kept for 30 days after its end."""
    async with open_store() as store:
        deliveries = await newest_deliveries(store.session, id, limit=page.limit + 1, before=page.after)
    return page_response(deliveries, page.limit)


@router.post(
    "/v1/deliveries/{id}/resend",
    status_code=HTTPStatus.ACCEPTED,
    summary="Send a delivery again",
    response_model=Delivery,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED),
)
async def resend_delivery(id: UUID, open_store: StoreOpener) -> Response:
    """The delivery, which a worker sends at once under the same id: 202; 409 where its webhook is off."""
    async with open_store() as store:
        delivery = await resend(store.session, id)
    headers = {"Location": f"/v1/webhooks/{delivery.webhook_id}/deliveries"}
    return json_response(delivery, HTTPStatus.ACCEPTED, headers=headers)
