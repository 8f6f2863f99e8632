"""Deliveries: what webhooks were sent, what failed and why, and a way to send it again."""

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts import webhooks as acts
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.deliveries import deliveries
from chiron_api.http.page.forms import read_form
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import view


async def show_deliveries(request: Request) -> Response:
    """The deliveries of all webhooks that one sees, in pages."""
    services, options = services_of(request), read_query(request, deliveries.Options)
    owner = services.principal.visible_owner
    listing = await deliveries.load(services.pool, before=options.before, owner=owner)
    return page(
        request,
        "deliveries/page.html",
        section="/system",
        listing=listing,
        has_owners=owner is None,
        is_first=options.before is None,
    )


async def resend_delivery(request: Request) -> Response:
    """Have a delivery sent again; the list follows."""
    delivery_id = path_id(request)
    await read_form(request)
    await acts.resend_delivery(services_of(request), delivery_id)
    return see_other("/deliveries")


routes = [
    view("/deliveries", show_deliveries),
    view("/deliveries/{id}/resend", resend_delivery, methods=["POST"]),
]
