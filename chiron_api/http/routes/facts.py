from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import Wire, body, path_id, services
from chiron_api.http.responses import answer
from chiron_api.views.facts import fact_page
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.facts.facts import REASON_CHARS_MAX


class Reason(Wire):
    """Why a fact is taken out or brought back."""

    reason: Annotated[str, Field(max_length=REASON_CHARS_MAX)] = ""


async def show_fact(request: Request) -> Response:
    """A fact with what it rests on, how its confidence comes about, what stands against it, and its history."""
    async with services(request).store() as store:
        return answer(fact_page(await load_details(store.session, path_id(request))))


async def withdraw_fact(request: Request) -> Response:
    """Take a fact out; the fact as it is now."""
    return await _set_aside(request, back=False)


async def reinstate_fact(request: Request) -> Response:
    """Bring a withdrawn fact back; the fact as it is now."""
    return await _set_aside(request, back=True)


async def _set_aside(request: Request, *, back: bool) -> Response:
    fact_id, wanted = path_id(request), await body(request, Reason)
    async with services(request).store() as store:
        change = store.facts.reinstate if back else store.facts.withdraw
        await change(str(fact_id), reason=wanted.reason)
    async with services(request).store() as store:
        return answer(fact_page(await load_details(store.session, fact_id)))


routes = [
    Route("/v1/facts/{id}", show_fact),
    Route("/v1/facts/{id}/withdraw", withdraw_fact, methods=["POST"]),
    Route("/v1/facts/{id}/reinstate", reinstate_fact, methods=["POST"]),
]
