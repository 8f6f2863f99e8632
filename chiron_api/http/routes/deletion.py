from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import Wire, path_id, query, services
from chiron_workers.batches.delete import delete
from chiron_workers.batches.summaries import run_summary, summary


class Extent(Wire):
    """What goes too."""

    with_facts: bool = False


async def delete_batch(request: Request) -> Response:
    """Delete a finished batch with its runs; 204, and 409 while something of it is open."""
    await summary(services(request).pool, path_id(request))  # the id of a run is not found here
    return await _delete(request)


async def delete_run(request: Request) -> Response:
    """Delete a finished run, and its batch with the last one; 204, and 409 while it is open."""
    await run_summary(services(request).pool, path_id(request))
    return await _delete(request)


async def _delete(request: Request) -> Response:
    extent = query(request, Extent)
    await delete(services(request).pool, path_id(request), with_facts=extent.with_facts)
    return Response(status_code=HTTPStatus.NO_CONTENT)


routes = [
    Route("/v1/batches/{id}", delete_batch, methods=["DELETE"]),
    Route("/v1/runs/{id}", delete_run, methods=["DELETE"]),
]
