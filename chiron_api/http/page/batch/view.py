"""A batch: how far and how well."""

from typing import Annotated
from uuid import UUID

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts import batches as acts
from chiron_api.acts.batches import Comparison
from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.batch import batch, listing
from chiron_api.http.page.batch.batch import BatchView, Order, Selection
from chiron_api.http.page.live import Frame, Part, live_parts
from chiron_api.http.page.rendering import page, render
from chiron_api.http.page.rows.view import rows_part
from chiron_api.http.page.views import view
from chiron_workers.batches.summaries import summaries_of
from chiron_workers.states import RunState

PARTS = ("head", "picture", "steering", "costs", "runs")


class Options(Input):
    """The query string of a batch's page."""

    state: RunState | None = None
    order: Order = Order.TOPIC
    nothing_found: bool = False
    page: Annotated[int, Field(ge=1, le=100_000)] = 1
    after: UUID = UUID(int=0)  # the newest fact that the page shows, for what joins it

    def selection(self) -> Selection:
        """Which runs the table shows."""
        return Selection(self.state, self.order, self.page, self.nothing_found)


async def list_batches(request: Request) -> Response:
    """Every batch, newest first, in pages."""
    options = read_query(request, listing.Options)
    services = services_of(request)
    batches = await listing.load(services.pool, before=options.before, owner=services.principal.visible_owner)
    return page(request, "batch/list.html", section="/batches", listing=batches)


async def show_batch(request: Request) -> Response:
    """One batch."""
    services = services_of(request)
    batch_view = await batch.load(services.pool, path_id(request), read_query(request, Options).selection())
    other_batches = await batch.load_others(services.pool, batch_view.batch, services.principal.visible_owner)
    return page(request, "batch/page.html", section="/batches", view=batch_view, others=other_batches)


async def compare_batches(request: Request) -> Response:
    """Two batches of a subject side by side, and what changed between their ends."""
    services, batch_id, options = services_of(request), path_id(request), read_query(request, Comparison)
    changes = await acts.compare_batches(services, batch_id, options)
    later, earlier = await summaries_of(services.pool, [batch_id, options.against])
    if later.finished_at == changes.since:
        later, earlier = earlier, later
    return page(request, "batch/compare.html", section="/batches", batches=(earlier, later), changes=changes)


async def live_batch(request: Request) -> Response:
    """The parts of a batch's page as they change; facts join the list as they arrive."""
    pool, batch_id, options = services_of(request).pool, path_id(request), read_query(request, Options)
    selection, newest = options.selection(), [options.after]

    async def load() -> BatchView:
        return await batch.load(pool, batch_id, selection)

    async def draw(batch_view: BatchView) -> Frame:
        parts = [Part(name, render(request, f"batch/{name}.html", {"view": batch_view})) for name in PARTS]
        parts += rows_part(request, batch_view.table, with_topic=True)
        parts += _new_facts(request, batch_view, newest)
        return Frame(tuple(parts), is_last=batch_view.batch.finished_at is not None)

    return live_parts(request, ("batch", batch_id, selection), load, draw, batch_id=batch_id)


def _new_facts(request: Request, batch_view: BatchView, newest: list[UUID]) -> list[Part]:
    """The facts that came since the frame before, whose newest one is in `newest`."""
    facts = [fact for fact in batch_view.facts if fact["id"] > newest[0]]
    if not facts:
        return []
    newest[:] = [facts[0]["id"]]
    words = f"{len(facts)} new facts." if len(facts) > 1 else "A new fact."
    return [Part("facts", render(request, "batch/cards.html", {"facts": facts}), "prepend", words)]


routes = [
    view("/batches", list_batches),
    view("/batches/{id}", show_batch),
    view("/batches/{id}/live", live_batch),
    view("/batches/{id}/diff", compare_batches),
]
