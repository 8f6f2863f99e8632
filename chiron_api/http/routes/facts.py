from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field
from starlette.responses import Response

from chiron_api.answers.facts import Fact
from chiron_api.http.dependencies import StoreOpener
from chiron_api.http.descriptions import answers
from chiron_api.http.requests import RequestModel
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.views.facts import fact_page
from chiron_workers.knowledge.facts import withdrawals
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.facts.withdrawals import REASON_CHARS_MAX

router = api_router("Facts")


class Reason(RequestModel):
    """Why a fact is withdrawn or reinstated."""

    reason: Annotated[str, Field(max_length=REASON_CHARS_MAX)] = ""


@router.get(
    "/v1/facts/{id}", summary="Show a fact", response_model=Fact, responses=answers(HTTPStatus.NOT_FOUND)
)
async def show_fact(id: UUID, open_store: StoreOpener) -> Response:
    """A fact with its sources, the explanation of its confidence, what contradicts it, and its history."""
    async with open_store() as store:
        return json_response(fact_page(await load_details(store.session, id)))


@router.post(
    "/v1/facts/{id}/withdraw",
    summary="Withdraw a fact",
    response_model=Fact,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def withdraw_fact(id: UUID, body: Reason, open_store: StoreOpener) -> Response:
    """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now."""
    return await _change(id, body.reason, open_store, withdrawals.withdraw)


@router.post(
    "/v1/facts/{id}/reinstate",
    summary="Reinstate a fact",
    response_model=Fact,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def reinstate_fact(id: UUID, body: Reason, open_store: StoreOpener) -> Response:
    """Take a withdrawal back. The fact as it is now."""
    return await _change(id, body.reason, open_store, withdrawals.reinstate)


async def _change(
    fact_id: UUID, reason: str, open_store: StoreOpener, change: Callable[..., Awaitable[object]]
) -> Response:
    async with open_store() as store:
        await change(store.facts, str(fact_id), reason=reason)
    async with open_store() as store:
        return json_response(fact_page(await load_details(store.session, fact_id)))
