"""Rechecks: have the sources of a subject read again, and see what was found."""

from http import HTTPStatus
from uuid import UUID

from chiron_api.acts.act import Noun, Target
from chiron_api.answers.subjects import Recheck
from chiron_api.services import Services
from chiron_workers.rechecks.orders import get_recheck, order_recheck
from chiron_workers.runs.session import Session

RECHECKS = Noun("Subjects", Target("recheck", (Recheck,)))
PROBLEMS = (HTTPStatus.NOT_FOUND,)


@RECHECKS.act(
    "subjects.recheck",
    "POST /v1/subjects/{id}/recheck",
    "Read the sources of a subject again",
    client="order_recheck",
    faces=("POST /subjects/{id}/recheck",),
    status=HTTPStatus.ACCEPTED,
    location="/v1/rechecks/{id}",
    problems=PROBLEMS,
    target=Target("subject"),
)
async def order_subject_recheck(services: Services, id: str) -> Recheck:
    """Have a worker read the sources of a subject's facts again; the order that is open, if there is one."""
    async with services.store() as store:
        subject = await store.subjects.require(id)
        return Recheck.model_validate(await order_recheck(store.session, subject["subject_id"]))


@RECHECKS.act(
    "rechecks.read",
    "GET /v1/rechecks/{id}",
    "Show a recheck",
    client="recheck",
    problems=PROBLEMS,
)
async def show_recheck(services: Services, id: UUID) -> Recheck:
    """A recheck: its state, and what it has found once it is completed."""
    return Recheck.model_validate(await get_recheck(Session(services.pool), id))
