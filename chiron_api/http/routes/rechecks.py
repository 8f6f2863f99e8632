from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import path_id, services_of
from chiron_api.http.responses import json_response
from chiron_workers.rechecks.orders import get_recheck, order_recheck


async def order(request: Request) -> Response:
    """Have a worker read the sources of a subject's facts again: 202, with the order that is open if there is one."""
    async with services_of(request).store() as store:
        subject = await store.subjects.get(request.path_params["id"])
        recheck = await order_recheck(store.session, subject["subject_id"])
    headers = {"Location": f"/v1/rechecks/{recheck.id}"}
    return json_response(recheck, HTTPStatus.ACCEPTED, headers=headers)


async def show(request: Request) -> Response:
    """A recheck: its state, and what it has found once it is completed."""
    async with services_of(request).store() as store:
        return json_response(await get_recheck(store.session, path_id(request)))


routes = [
    Route("/v1/subjects/{id}/recheck", order, methods=["POST"]),
    Route("/v1/rechecks/{id}", show),
]
