"""A fact: why one should believe it."""

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.facts import Reason, reinstate_fact, withdraw_fact
from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.fact import proof
from chiron_api.http.page.forms import Form, read_input
from chiron_api.http.page.rendering import is_panel, page, see_other
from chiron_api.http.page.views import view
from chiron_workers.knowledge.facts.fact_details import load_details


class Options(Input):
    """The query string: which source is shown, by its number, and from which character of its text on."""

    source: Annotated[int, Field(ge=1, le=100_000)] = 1
    at: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None


async def show_fact(request: Request) -> Response:
    """The fact with its proof, as a page or for the panel."""
    fact_id, options = path_id(request), read_query(request, Options)
    async with services_of(request).store() as store:
        fact = await load_details(store.session, fact_id)
        sources = proof.sources_of(fact)
        evidence = await proof.load(store.session, sources, number=options.source, at=options.at)
    best = next(
        (source for source in sources if source.verdict == "supported"), sources[0] if sources else None
    )
    return page(
        request,
        "fact/panel.html" if is_panel(request) else "fact/page.html",
        fact=fact,
        sources=sources,
        best=best,
        opponents=proof.opponents_of(fact),
        proof=evidence,
        reason=Form(Reason),
    )


async def withdraw(request: Request) -> Response:
    """Withdraw the fact."""
    fact_id = path_id(request)
    await withdraw_fact(services_of(request), fact_id, await read_input(request, Reason))
    return see_other(f"/facts/{fact_id}")


async def reinstate(request: Request) -> Response:
    """Take that back."""
    fact_id = path_id(request)
    await reinstate_fact(services_of(request), fact_id, await read_input(request, Reason))
    return see_other(f"/facts/{fact_id}")


routes = [
    view("/facts/{id}", show_fact),
    view("/facts/{id}/withdraw", withdraw, methods=["POST"]),
    view("/facts/{id}/reinstate", reinstate, methods=["POST"]),
]
