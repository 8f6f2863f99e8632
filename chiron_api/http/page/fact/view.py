"""A fact: why one should believe it."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.fact import proof
from chiron_api.http.page.forms import read_form
from chiron_api.http.page.rendering import is_panel, page, see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_workers.knowledge.facts import withdrawals
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.facts.withdrawals import REASON_CHARS_MAX


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
        reason_chars=REASON_CHARS_MAX,
    )


def _route(name: str, change: Callable[..., Awaitable[object]]) -> Route:
    async def answer(request: Request) -> Response:
        fact_id = path_id(request)
        reason = (await read_form(request)).get("reason", "").strip()
        if len(reason) > REASON_CHARS_MAX:
            detail = f"A reason has at most {REASON_CHARS_MAX:,} characters."
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
        async with services_of(request).store() as store:
            await change(store.facts, str(fact_id), reason=reason)
        return see_other(f"/facts/{fact_id}")

    return view(f"/facts/{{id}}/{name}", answer, methods=["POST"])


routes = [
    view("/facts/{id}", show_fact),
    _route("withdraw", withdrawals.withdraw),
    _route("reinstate", withdrawals.reinstate),
]
