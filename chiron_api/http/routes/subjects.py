from http import HTTPStatus
from typing import Annotated

from fastapi import Query
from pydantic import AwareDatetime, Field
from starlette.responses import JSONResponse, Response

from chiron_api.client.models.differences import Difference
from chiron_api.client.models.subjects import SubjectList
from chiron_api.http.dependencies import StoreOpener
from chiron_api.http.descriptions import answers
from chiron_api.http.requests import RequestModel
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.subject_diff import between

router = api_router("Subjects")


class Period(RequestModel):
    """A period, its times with their zones; it ends now unless `until` is given."""

    since: AwareDatetime
    until: AwareDatetime | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


@router.get("/v1/subjects", summary="List the subjects", response_model=SubjectList)
async def list_subjects(open_store: StoreOpener) -> JSONResponse:
    """Every subject with its learning goal, by name."""
    async with open_store() as store:
        return JSONResponse({"items": await store.subjects.all()})


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
