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


async def delete_batch_or_run(request: Request) -> Response:
    """Delete a finished batch with its runs, or a run, and its batch with the last one; 204, and 409 while one is open."""
    find = summary if request.url.path.startswith("/v1/batches/") else run_summary
    await find(services_of(request).pool, path_id(request))  # 404 for an id of the other kind
    options = read_query(request, DeleteOptions)
    await delete(services_of(request).pool, path_id(request), with_facts=options.with_facts)
    return Response(status_code=HTTPStatus.NO_CONTENT)


routes = [
    Route(f"/v1/{kind}/{{id}}", delete_batch_or_run, methods=["DELETE"]) for kind in ("batches", "runs")
]
