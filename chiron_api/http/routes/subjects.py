from typing import Annotated

from pydantic import AwareDatetime, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from chiron_api.http.requests import Wire, query, services
from chiron_api.http.responses import answer
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.subject_diff import SubjectDiffs


class Window(Wire):
    """Between which moments: with their zones, up to now without the second."""

    since: AwareDatetime
    until: AwareDatetime | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


async def list_subjects(request: Request) -> JSONResponse:
    """Every subject with its learning goal, by name."""
    async with services(request).store() as store:
        return JSONResponse({"items": await store.subjects.all()})


async def show_difference(request: Request) -> Response:
    """What has become of a subject between two moments; 404 without such a subject."""
    window = query(request, Window)
    subject_id = slug(request.path_params["id"])
    async with services(request).store() as store:
        found = await SubjectDiffs(store.session).between(
            subject_id, window.since, window.until, limit=window.limit
        )
    return answer(found)


routes = [Route("/v1/subjects", list_subjects), Route("/v1/subjects/{id}/diff", show_difference)]
