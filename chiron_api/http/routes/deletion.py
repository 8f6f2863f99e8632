from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from starlette.responses import Response

from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import answers
from chiron_api.http.routing import api_router
from chiron_workers.batches.delete import delete
from chiron_workers.batches.summaries import run_summary, summary

router = api_router("Steering")


class DeleteOptions(Input):
    """`with_facts` also deletes the facts that the runs found first."""

    with_facts: bool = False


DeleteQuery = Annotated[DeleteOptions, Query()]


@router.delete(
    "/v1/batches/{id}",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Delete a batch",
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def delete_batch(id: UUID, options: DeleteQuery, services: ServicesOf) -> Response:
    """Delete a finished batch with its runs; 409 while one of them is open."""
    await summary(services.pool, id)  # 404 for the id of a run
    await delete(services.pool, id, with_facts=options.with_facts)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@router.delete(
    "/v1/runs/{id}",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Delete a run",
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def delete_run(id: UUID, options: DeleteQuery, services: ServicesOf) -> Response:
    """Delete a finished run, and its batch with the last one; 409 while it is open."""
    await run_summary(services.pool, id)  # 404 for the id of a batch
    await delete(services.pool, id, with_facts=options.with_facts)
    return Response(status_code=HTTPStatus.NO_CONTENT)
