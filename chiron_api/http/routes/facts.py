from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import RequestModel, path_id, read_body, services_of
from chiron_api.http.responses import json_response
from chiron_api.views.facts import fact_page
from chiron_workers.knowledge.facts import withdrawals
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.facts.withdrawals import REASON_CHARS_MAX


class Reason(RequestModel):
    """Why a fact is withdrawn or reinstated."""

    reason: Annotated[str, Field(max_length=REASON_CHARS_MAX)] = ""


async def show_fact(request: Request) -> Response:
    """A fact with its sources, the explanation of its confidence, what contradicts it, and its history."""
    async with services_of(request).store() as store:
        return json_response(fact_page(await load_details(store.session, path_id(request))))


async def change_fact(request: Request, change: Callable[..., Awaitable[object]]) -> Response:
    """Withdraw a fact or reinstate it; the fact as it is now."""
    fact_id, body = path_id(request), await read_body(request, Reason)
    async with services_of(request).store() as store:
        await change(store.facts, str(fact_id), reason=body.reason)
    async with services_of(request).store() as store:
        return json_response(fact_page(await load_details(store.session, fact_id)))


routes = [
    Route("/v1/facts/{id}", show_fact),
    Route("/v1/facts/{id}/withdraw", partial(change_fact, change=withdrawals.withdraw), methods=["POST"]),
    Route("/v1/facts/{id}/reinstate", partial(change_fact, change=withdrawals.reinstate), methods=["POST"]),
]
