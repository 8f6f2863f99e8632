from typing import Annotated

from pydantic import AwareDatetime, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from chiron_api.http.requests import RequestModel, read_query, services_of
from chiron_api.http.responses import json_response
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.subject_diff import between


class Period(RequestModel):
    """A period, its times with their zones; it ends now unless `until` is given."""

    since: AwareDatetime
    until: AwareDatetime | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


async def list_subjects(request: Request) -> JSONResponse:
    """Every subject with its learning goal, by name."""
    async with services_of(request).store() as store:
        return JSONResponse({"items": await store.subjects.all()})


async def show_difference(request: Request) -> Response:
    """What changed in a subject in a period; 404 without such a subject."""
    period = read_query(request, Period)
    subject_id = slug(request.path_params["id"])
    async with services_of(request).store() as store:
        difference = await between(store.session, subject_id, period.since, period.until, limit=period.limit)
    return json_response(difference)


routes = [Route("/v1/subjects", list_subjects), Route("/v1/subjects/{id}/diff", show_difference)]
