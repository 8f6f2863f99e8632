import asyncio
from http import HTTPStatus
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from chiron_api.acts.inputs import Input
from chiron_api.answers.learning import CoverageMap
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import Responses, answers
from chiron_api.http.routing import api_router
from chiron_api.views.coverage_maps import MEDIA_TYPES, MapFormat, load_map, render
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.session import Session

router = api_router("Learning")
DOCUMENTS: Responses = answers(HTTPStatus.NOT_FOUND) | {
    200: {
        "description": "The map in the format that was named.",
        "content": {
            media_type.partition(";")[0]: {}
            for name, media_type in MEDIA_TYPES.items()
            if name is not MapFormat.JSON
        },
    }
}


class MapQuery(Input):
    """The format of a map."""

    format: MapFormat = MapFormat.JSON


@router.get(
    "/v1/subjects/{id}/map",
    summary="Show the coverage map of a subject",
    response_model=CoverageMap,
    responses=DOCUMENTS,
)
async def show_map(id: str, query: Annotated[MapQuery, Query()], services: ServicesOf) -> Response:
    """The nodes of a subject, nested, with how many facts belong to each, and which are exhausted."""
    session = Session(services.pool)
    coverage = await load_map(session, (await Subjects(session).require(id))["subject_id"])
    text = await asyncio.to_thread(render, coverage, query.format)
    return Response(text, media_type=MEDIA_TYPES[query.format])
