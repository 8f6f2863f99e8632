from http import HTTPStatus
from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.responses import JSONResponse, Response

from chiron_api.acts.inputs import Input, Page, Time
from chiron_api.answers.differences import Difference
from chiron_api.answers.facts import FactList
from chiron_api.answers.subjects import SubjectDetails, SubjectList
from chiron_api.http.dependencies import ServicesOf, StoreOpener
from chiron_api.http.descriptions import answers
from chiron_api.http.responses import json_response, page_response
from chiron_api.http.routing import api_router
from chiron_api.reports.gathering import subject_part
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.facts.fact_pages import newest_facts
from chiron_workers.knowledge.report_rows import counts as counts_of
from chiron_workers.knowledge.report_rows import find_target, subject_rows
from chiron_workers.knowledge.subject_diff import between
from chiron_workers.runs.session import Session
from chiron_workers.states import SHOWN_STATUSES, FactStatus

router = api_router("Subjects")


class Period(Input):
    """A period, its times with their zones; it ends now unless `until` is given."""

    since: Time
    until: Time | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


class FactPage(Page):
    """A page of the facts of a subject, in one status if it is named."""

    status: FactStatus | None = None


@router.get("/v1/subjects", summary="List the subjects", response_model=SubjectList)
async def list_subjects(open_store: StoreOpener) -> JSONResponse:
    """Every subject with its learning goal, by name."""
    async with open_store() as store:
        return JSONResponse({"items": await store.subjects.all()})


@router.get(
    "/v1/subjects/{id}",
    summary="Show a subject",
    response_model=SubjectDetails,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def show_subject(id: str, services: ServicesOf) -> Response:
    """A subject with its learning goal, how many facts it has, and its coverage map."""
    target = await find_target(services.pool, id)
    [row] = await subject_rows(services.pool, [str(target.id)])
    part = await subject_part(services.pool, row)
    coverage = {
        "nodes": part.nodes,
        "missing": [node.node_id for node in part.missing],
        "unmapped_facts": part.unmapped_facts,
        "is_cut": part.is_cut,
    }
    documents = await Corpus(Session(services.pool)).documents(str(target.id))
    counts = {"facts": await counts_of(services.pool, target), "documents": len(documents)}
    return json_response({**row, **counts, "coverage": coverage})


@router.get(
    "/v1/subjects/{id}/facts",
    summary="List the facts of a subject",
    response_model=FactList,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def list_subject_facts(id: str, page: Annotated[FactPage, Query()], services: ServicesOf) -> Response:
    """Facts, newest first, in pages; those that are accepted or disputed unless a status is named."""
    target = await find_target(services.pool, id)
    facts = await newest_facts(
        Session(services.pool),
        str(target.id),
        [page.status] if page.status else SHOWN_STATUSES,
        limit=page.limit + 1,
        before=page.after,
    )
    return page_response(facts, page.limit)


@router.get(
    "/v1/subjects/{id}/diff",
    summary="Compare two times of a subject",
    response_model=Difference,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def show_difference(id: str, period: Annotated[Period, Query()], open_store: StoreOpener) -> Response:
    """What changed in a subject in a period; 404 without such a subject."""
    subject_id = slug(id)
    async with open_store() as store:
        difference = await between(store.session, subject_id, period.since, period.until, limit=period.limit)
    return json_response(difference)
