from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from chiron_api.answers.subjects import Recheck
from chiron_api.http.dependencies import StoreOpener
from chiron_api.http.descriptions import answers
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_workers.rechecks.orders import get_recheck, order_recheck

router = api_router("Subjects")


@router.post(
    "/v1/subjects/{id}/recheck",
    status_code=HTTPStatus.ACCEPTED,
    summary="Read the sources of a subject again",
    response_model=Recheck,
    responses=answers(located=HTTPStatus.ACCEPTED),
)
async def order_subject_recheck(id: str, open_store: StoreOpener) -> Response:
    """Have a worker read the sources of a subject's facts again: 202, with the order that is open if there is one."""
    async with open_store() as store:
        subject = await store.subjects.get(id)
        recheck = await order_recheck(store.session, subject["subject_id"])
    headers = {"Location": f"/v1/rechecks/{recheck.id}"}
    return json_response(recheck, HTTPStatus.ACCEPTED, headers=headers)


@router.get(
    "/v1/rechecks/{id}",
    summary="Show a recheck",
    response_model=Recheck,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def show_recheck(id: UUID, open_store: StoreOpener) -> Response:
    """A recheck: its state, and what it has found once it is completed."""
    async with open_store() as store:
        return json_response(await get_recheck(store.session, id))
