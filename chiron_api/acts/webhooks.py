"""Webhooks: where an owner hears of what happens; and what was sent there."""

from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field, WithJsonSchema

from chiron_api.acts.act import Noun, Target
from chiron_api.acts.inputs import Input, Page
from chiron_api.answers.webhooks import Delivery, DeliveryList, NewWebhook, Webhook, WebhookList
from chiron_api.services import Services
from chiron_workers.states import NoticeKind, WebhookFormat
from chiron_workers.webhooks import webhooks as engine
from chiron_workers.webhooks.deliveries import newest_deliveries, resend, send_test
from chiron_workers.webhooks.webhooks import DEFAULT_KINDS, KINDS, URL_CHARS_MAX, Webhooks

WEBHOOKS = Noun("Webhooks", Target("webhook", (Webhook,)))
DELIVERIES = "/v1/webhooks/{webhook_id}/deliveries"
# The kind of `send_webhook_test` is not to be chosen.
ChosenKind = Annotated[NoticeKind, WithJsonSchema({"type": "string", "enum": list(KINDS)})]


class WebhookRequest(Input):
    """A webhook to make: where to, of what, and in which form (mail for mailto:, else `standard`)."""

    url: Annotated[str, Field(min_length=1, max_length=URL_CHARS_MAX)] = Field(
        description="Where to: an address of https, or mailto:someone@example.org."
    )
    kinds: Annotated[list[ChosenKind], Field(min_length=1, max_length=len(KINDS))] = Field(
        default_factory=lambda: list(DEFAULT_KINDS),
        description="What is sent; without them all but the ends of runs that are completed or cancelled.",
    )
    format: WebhookFormat | None = Field(
        None, description="In which form. Default: mail for mailto:, else standard."
    )


@WEBHOOKS.act(
    "webhooks.create",
    "POST /v1/webhooks",
    "Make a webhook",
    client="create_webhook",
    faces=("POST /webhooks",),
    status=HTTPStatus.CREATED,
    location="/v1/webhooks/{id}",
    problems=(HTTPStatus.CONFLICT,),
    shows_secret=True,
)
async def create_webhook(services: Services, body: WebhookRequest) -> NewWebhook:
    """Make a webhook; `secret` of the answer signs its deliveries, and no later answer shows it. An owner has only so many."""
    async with services.session() as session:
        secret, webhook = await Webhooks(session).create(engine.NewWebhook(body.url, body.kinds, body.format))
    return NewWebhook(**asdict(webhook), secret=secret)


@WEBHOOKS.act(
    "webhooks.list",
    "GET /v1/webhooks",
    "List the webhooks",
    client="webhooks",
    faces=("GET /deliveries", "GET /webhooks"),
)
async def list_webhooks(services: Services, page: Page) -> WebhookList:
    """Webhooks, newest first, in pages; `next` is null on the last one."""
    async with services.session() as session:
        webhooks = await Webhooks(session).newest(limit=page.limit + 1, before=page.after)
    return WebhookList.model_validate(page.of(webhooks))


@WEBHOOKS.act(
    "webhooks.read",
    "GET /v1/webhooks/{id}",
    "Show a webhook",
    client="webhook",
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def show_webhook(services: Services, id: UUID) -> Webhook:
    """A webhook without its secret, and why it is off if it is."""
    async with services.session() as session:
        return Webhook.model_validate(await Webhooks(session).get(id))


@WEBHOOKS.act(
    "webhooks.delete",
    "DELETE /v1/webhooks/{id}",
    "Remove a webhook",
    client="remove_webhook",
    faces=("POST /webhooks/{id}/delete",),
    status=HTTPStatus.NO_CONTENT,
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def remove_webhook(services: Services, id: UUID) -> None:
    """Remove a webhook with its deliveries."""
    async with services.session() as session:
        await Webhooks(session).remove(id)


@WEBHOOKS.act(
    "webhooks.pause",
    "POST /v1/webhooks/{id}/pause",
    "Pause a webhook",
    client="pause_webhook",
    faces=("POST /webhooks/{id}/pause",),
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
    repeatable=True,
)
async def pause_webhook(services: Services, id: UUID) -> Webhook:
    """Send a webhook nothing until it is resumed. Deliveries that wait are sent then; events during the pause are not."""
    async with services.session() as session:
        return Webhook.model_validate(await Webhooks(session).pause(id))


@WEBHOOKS.act(
    "webhooks.resume",
    "POST /v1/webhooks/{id}/resume",
    "Resume a webhook",
    client="resume_webhook",
    faces=("POST /webhooks/{id}/resume",),
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
    repeatable=True,
)
async def resume_webhook(services: Services, id: UUID) -> Webhook:
    """Send to a webhook again that is paused, or off since its deliveries failed."""
    async with services.session() as session:
        return Webhook.model_validate(await Webhooks(session).resume(id))


@WEBHOOKS.act(
    "webhooks.test",
    "POST /v1/webhooks/{id}/test",
    "Try a webhook",
    client="send_webhook_test",
    status=HTTPStatus.ACCEPTED,
    faces=("POST /webhooks/{id}/test",),
    location=DELIVERIES,
    problems=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    is_owned=True,
)
async def send_webhook_test(services: Services, id: UUID) -> Delivery:
    """Have a delivery sent that says nothing. A webhook that is off is turned on again; a paused one is refused."""
    async with services.session() as session:
        return Delivery.model_validate(await send_test(session, id))


@WEBHOOKS.act(
    "webhooks.read",
    "GET /v1/webhooks/{id}/deliveries",
    "List the deliveries of a webhook",
    client="deliveries",
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def list_deliveries(services: Services, id: UUID, page: Page) -> DeliveryList:
    """Deliveries of a webhook, sent and waiting, newest first, in pages; each is kept for 30 days after its end."""
    async with services.session() as session:
        deliveries = await newest_deliveries(session, id, limit=page.limit + 1, before=page.after)
    return DeliveryList.model_validate(page.of(deliveries))


@WEBHOOKS.act(
    "deliveries.resend",
    "POST /v1/deliveries/{id}/resend",
    "Send a delivery again",
    client="resend_delivery",
    target=Target("delivery", (Delivery,)),
    faces=("POST /deliveries/{id}/resend",),
    status=HTTPStatus.ACCEPTED,
    location=DELIVERIES,
    problems=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    is_owned=True,
)
async def resend_delivery(services: Services, id: UUID) -> Delivery:
    """Have a worker send a delivery at once, under the same id. It is refused where the webhook is off."""
    async with services.session() as session:
        return Delivery.model_validate(await resend(session, id))
