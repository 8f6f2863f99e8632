"""System: whether the machine is well."""

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import flower_address
from chiron_api.http.page.live import Frame, Part, live_parts
from chiron_api.http.page.rendering import page, render
from chiron_api.http.page.system import system
from chiron_api.http.page.system.system import System
from chiron_api.http.page.views import view
from chiron_workers.states import AccessScope

PARTS = ("services", "workers", "queue", "spending")


async def show_system(request: Request) -> Response:
    """Services, workers, queue, holds and money."""
    services = services_of(request)
    return page(
        request,
        "system/page.html",
        section="/system",
        system=await system.load(services),
        flower_address=flower_address(request),
        is_admin=services.principal.may(AccessScope.ADMIN),
    )


async def live_system(request: Request) -> Response:
    """The same as it changes."""

    services = services_of(request)

    async def load() -> System:
        return await system.load(services)

    async def draw(state: System) -> Frame:
        values = {"system": state, "flower_address": flower_address(request)}
        return Frame(tuple(Part(name, render(request, f"system/{name}.html", values)) for name in PARTS))

    return live_parts(request, ("system", services.principal.visible_owner), load, draw)


routes = [view("/system", show_system), view("/system/live", live_system)]
