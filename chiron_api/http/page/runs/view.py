"""The runs of all batches that the reader may see; the address has every filter."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.runs import WORDS_CHARS_MAX
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.live import Frame, Part, live_parts
from chiron_api.http.page.rendering import page, render
from chiron_api.http.page.runs import listing
from chiron_api.http.page.runs.listing import Listing, Selection
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_workers.states import RunState

STATES = (*((state.value, state.value) for state in RunState), (listing.NOTHING_FOUND, "nothing found"))


async def show_runs(request: Request) -> Response:
    """Show the filters and the runs that match, with the mistake of a wrong filter beside them."""
    services, selection = services_of(request), Selection.of(request.query_params)
    problem, runs = "", None
    try:
        runs = await listing.load(services, selection.page())
    except Problem as error:
        problem = error.detail
    owner = services.principal.visible_owner
    return page(
        request,
        "runs/page.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        section="/runs",
        problem=problem,
        states=STATES,
        choices=await listing.load_choices(services.pool, owner),
        has_owners=owner is None,
        words_chars_max=WORDS_CHARS_MAX,
        **_values(selection, runs),
    )


async def live_runs(request: Request) -> Response:
    """The list as it changes."""
    services, selection = services_of(request), Selection.of(request.query_params)
    options = selection.page()

    async def load() -> Listing:
        return await listing.load(services, options)

    async def draw(runs: Listing) -> Frame:
        html = render(request, "runs/list.html", _values(selection, runs))
        return Frame((Part("runs", html.strip()),))

    owner = services.principal.visible_owner
    return live_parts(request, ("runs", owner, selection.query), load, draw)


def _values(selection: Selection, runs: Listing | None) -> dict[str, object]:
    return {"selection": selection, "listing": runs, "counted_max": listing.COUNTED_MAX}


routes = [view("/runs", show_runs), view("/live/runs", live_runs)]
