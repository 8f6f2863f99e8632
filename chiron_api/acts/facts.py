"""Facts: list them, show them, withdraw them, reinstate them."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Noun, Target
from chiron_api.acts.inputs import Input, Name, Page, Time
from chiron_api.answers.facts import Fact, FactList, FoundFact
from chiron_api.services import Services
from chiron_api.views.facts import fact_page
from chiron_workers.knowledge.facts import withdrawals
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.facts.fact_pages import newest_facts
from chiron_workers.knowledge.facts.withdrawals import REASON_CHARS_MAX
from chiron_workers.states import SHOWN_STATUSES, FactStatus

FACTS = Noun("Facts", Target("fact", (Fact, FoundFact)))
CHANGE_PROBLEMS = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


class Reason(Input):
    """Why a fact is withdrawn or reinstated."""

    reason: Annotated[
        str, Field(max_length=REASON_CHARS_MAX, description="Why; it is kept in the fact's history.")
    ] = ""


class FactsQuery(Page):
    """A page of the facts of all subjects, or of one."""

    subject_id: Annotated[
        Name | None, Field(description="Only facts of this subject, by its id or its name. Default: of all.")
    ] = None
    since: Annotated[
        Time | None,
        Field(
            description="Only facts stored since then, a time with its zone, such as 2026-10-01T00:00:00Z;"
            " a + is written %2B in an address."
        ),
    ] = None
    status: Annotated[
        FactStatus | None,
        Field(description="Only facts in this status. Default: accepted and disputed ones."),
    ] = None


@FACTS.act(
    "facts.list",
    "GET /v1/facts",
    "List facts",
    client="facts",
    problems=(HTTPStatus.NOT_FOUND,),
)
async def list_facts(services: Services, page: FactsQuery) -> FactList:
    """Facts of all subjects, or of one, newest first, in pages; those that are accepted or disputed unless a status is named."""
    async with services.store() as store:
        subject = await store.subjects.require(page.subject_id) if page.subject_id else None
        facts = await newest_facts(
            store.session,
            subject["subject_id"] if subject else None,
            [page.status] if page.status else SHOWN_STATUSES,
            limit=page.limit + 1,
            since=page.since,
            before=page.after,
        )
    return FactList.model_validate(page.of(facts))


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
