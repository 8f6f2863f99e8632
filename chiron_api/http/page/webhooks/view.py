"""Webhooks: addresses that receive events, and whether the last delivery arrived."""

from http import HTTPStatus
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts import webhooks as acts
from chiron_api.acts.inputs import Input, Page
from chiron_api.answers.webhooks import NewWebhook
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import read_query
from chiron_api.http.page.forms import Form, as_input, read_form
from chiron_api.http.page.rendering import page
from chiron_api.http.page.views import act_view, view
from chiron_api.http.problems import Problem
from chiron_workers.errors import Conflict, UsageError

PATH = "/webhooks"
WEBHOOKS_PER_PAGE = 50


class Options(Input):
    """The query string of the list of webhooks."""

    after: UUID | None = None


async def show_webhooks(request: Request) -> Response:
    """The webhooks, newest first, and a form that makes one."""
    return await _page(request, after=read_query(request, Options).after)


async def create_webhook(request: Request) -> Response:
    """Make a webhook and show its secret, which no later page does."""
    fields = await read_form(request)
    try:
        new = await acts.create_webhook(services_of(request), _body(fields))
    except (Problem, UsageError, Conflict) as error:
        return await _page(request, status=HTTPStatus.UNPROCESSABLE_ENTITY, problem=str(error), fields=fields)
    response = await _page(request, status=HTTPStatus.CREATED, new=new)
    response.headers["Location"] = f"{PATH}/{new.id}"  # the audit trail names its end
    return response


def _body(fields: dict[str, str]) -> acts.WebhookRequest:
    # Without a box that is ticked the form sends no kinds, which the act takes for its default.
    if not fields.setdefault("kinds", ""):
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "Tick one kind of notice or more.")
    return as_input(fields, acts.WebhookRequest)


async def _page(
    request: Request,
    *,
    after: UUID | None = None,
    fields: dict[str, str] | None = None,
    status: HTTPStatus = HTTPStatus.OK,
    problem: str = "",
    new: NewWebhook | None = None,
) -> Response:
    services = services_of(request)
    return page(
        request,
        "webhooks/page.html",
        status=status,
        section="/system",
        listing=await acts.list_webhooks(services, Page(limit=WEBHOOKS_PER_PAGE, after=after)),
        is_first=after is None,
        has_owners=services.principal.visible_owner is None,
        form=Form(acts.WebhookRequest, fields or {}),
        problem=problem,
        new=new,
    )


routes = [
    view(PATH, show_webhooks),
    view(PATH, create_webhook, methods=["POST"]),
    act_view(PATH, "pause", acts.pause_webhook),
    act_view(PATH, "resume", acts.resume_webhook),
    act_view(PATH, "test", acts.send_webhook_test),
    act_view(PATH, "delete", acts.remove_webhook),
]
