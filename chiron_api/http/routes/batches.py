from collections.abc import AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import EVENTS, RESULTS, EventStream, JsonLines, answers
from chiron_api.http.routing import api_router
from chiron_api.http.sse import StreamOptions, event_stream
from chiron_api.services import Services
from chiron_workers.batches.answers import result_lines
from chiron_workers.batches.summaries import summary

router = api_router("Batches")


@router.get(
    "/v1/batches/{id}/results",
    summary="List the results of a batch",
    response_class=JsonLines,
    responses=answers(HTTPStatus.NOT_FOUND) | RESULTS,
)
async def list_batch_results(id: UUID, services: ServicesOf) -> Response:
    """All runs of a batch in the order of its topics, one line of JSON each, in their present states."""
    await summary(services.pool, id)  # 404 for the id of a run
    return StreamingResponse(_lines(services, id), media_type="application/jsonl")


async def _lines(services: Services, batch_id: UUID) -> AsyncIterator[str]:
    async with aclosing(result_lines(services.pool, batch_id)) as pages:
        async for page in pages:
            yield page


@router.get(
    "/v1/batches/{id}/events",
    summary="Follow a batch",
    response_class=EventStream,
    responses=EVENTS,
)
async def stream_batch_events(
    id: UUID, options: Annotated[StreamOptions, Query()], request: Request
) -> Response:
    """Server-sent events of all runs of a batch, from the first to `batch.completed`."""
    return await event_stream(request, options, batch_id=id)
