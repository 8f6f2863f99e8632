"""Facts: show them, withdraw them, reinstate them."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Noun, Target
from chiron_api.acts.inputs import Input
from chiron_api.answers.facts import Fact, FoundFact
from chiron_api.services import Services
from chiron_api.views.facts import fact_page
from chiron_workers.knowledge.facts import withdrawals
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.facts.withdrawals import REASON_CHARS_MAX

FACTS = Noun("Facts", Target("fact", (Fact, FoundFact)))
CHANGE_PROBLEMS = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


class Reason(Input):
    """Why a fact is withdrawn or reinstated."""

    reason: Annotated[
        str, Field(max_length=REASON_CHARS_MAX, description="Why; it is kept in the fact's history.")
    ] = ""


@FACTS.act(
    "facts.read",
    "GET /v1/facts/{id}",
    "Show a fact",
    client="fact",
    faces=("GET /facts/{id}", "resource chiron://facts/{id}"),
    problems=(HTTPStatus.NOT_FOUND,),
)
async def show_fact(services: Services, id: UUID) -> Fact:
    """A fact with its sources, the explanation of its confidence, what contradicts it, and its history.

    `assertions` are the sources and quotes that it rests on, with their places in the snapshot; `related` are facts near it.
    """
    async with services.store() as store:
        return Fact.model_validate(fact_page(await load_details(store.session, id)))


@FACTS.act(
    "facts.withdraw",
    "POST /v1/facts/{id}/withdraw",
    "Withdraw a fact",
    client="withdraw",
    faces=("POST /facts/{id}/withdraw",),
    problems=CHANGE_PROBLEMS,
)
async def withdraw_fact(services: Services, id: UUID, body: Reason) -> Fact:
    """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now."""
    async with services.store() as store:
        await withdrawals.withdraw(store.facts, str(id), reason=body.reason)
    return await show_fact(services, id)


@FACTS.act(
    "facts.reinstate",
    "POST /v1/facts/{id}/reinstate",
    "Reinstate a fact",
    client="reinstate",
    faces=("POST /facts/{id}/reinstate",),
    problems=CHANGE_PROBLEMS,
)
async def reinstate_fact(services: Services, id: UUID, body: Reason) -> Fact:
    """Take a withdrawal back. The fact as it is now."""
    async with services.store() as store:
        await withdrawals.reinstate(store.facts, str(id), reason=body.reason)
    return await show_fact(services, id)
