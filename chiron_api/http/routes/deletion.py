from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import RequestModel, path_id, read_query, services_of
from chiron_workers.batches.delete import delete
from chiron_workers.batches.summaries import run_summary, summary


class DeleteOptions(RequestModel):
    """`with_facts` also deletes the facts that the runs found first."""

    with_facts: bool = False


async def delete_batch(request: Request) -> Response:
    """Delete a finished batch with its runs; 204, and 409 while something of it is open."""
    await summary(services_of(request).pool, path_id(request))  # 404 for the id of a run
    return await _delete(request)


async def delete_run(request: Request) -> Response:
    """Delete a finished run, and its batch with the last one; 204, and 409 while it is open."""
    await run_summary(services_of(request).pool, path_id(request))
    return await _delete(request)


async def _delete(request: Request) -> Response:
    options = read_query(request, DeleteOptions)
    await delete(services_of(request).pool, path_id(request), with_facts=options.with_facts)
    return Response(status_code=HTTPStatus.NO_CONTENT)


routes = [
    Route("/v1/batches/{id}", delete_batch, methods=["DELETE"]),
    Route("/v1/runs/{id}", delete_run, methods=["DELETE"]),
]
