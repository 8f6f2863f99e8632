from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from uuid import UUID

from starlette.responses import Response

from chiron_api.answers.runs import Steering
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import answers
from chiron_api.http.requests import Flag, RequestModel, Tokens, Usd
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.services import Services
from chiron_api.steering import Command, steer
from chiron_workers.batches.steering import cancel, pause, resume, retry
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool

router = api_router("Steering")


class NoOptions(RequestModel):
    """A command without options."""


class NewBudget(NoOptions):
    """The budget of the batch or the run from now on."""

    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None

    @property
    def budget(self) -> Budget:
        """Both amounts."""
        return Budget(self.budget_usd, self.budget_tokens)


class Retry(NewBudget):
    """`from_scratch` begins anew instead of where the run ended."""

    from_scratch: Flag = False


@dataclass(frozen=True, slots=True)
class Target:
    """Batches or runs: their part of a path, and what raises NotFound for an id of the other kind."""

    name: str
    find: Callable[[Pool, UUID], Awaitable[object]]


BATCHES, RUNS = Target("batches", summary), Target("runs", run_summary)
NO_OPTIONS, SAME_BUDGET, PLAIN_RETRY = NoOptions(), NewBudget(), Retry()


@router.post(
    "/v1/batches/{id}/cancel",
    status_code=HTTPStatus.ACCEPTED,
    summary="Cancel a batch",
    response_model=Steering,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED),
)
async def cancel_batch(id: UUID, services: ServicesOf, options: NoOptions = NO_OPTIONS) -> Response:
    """End all open runs of a batch. What a worker plays ends when the worker learns of it."""
    return await _steer(services, BATCHES, id, cancel)


@router.post(
    "/v1/batches/{id}/pause",
    status_code=HTTPStatus.ACCEPTED,
    summary="Pause a batch",
    response_model=Steering,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED),
)
async def pause_batch(id: UUID, services: ServicesOf, options: NoOptions = NO_OPTIONS) -> Response:
    """Put all open runs of a batch aside. A worker finishes the model call it is in."""
    return await _steer(services, BATCHES, id, pause)


@router.post(
    "/v1/batches/{id}/resume",
    status_code=HTTPStatus.ACCEPTED,
    summary="Resume a batch",
    response_model=Steering,
    responses=answers(
        HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED
    ),
)
async def resume_batch(id: UUID, services: ServicesOf, options: NewBudget = SAME_BUDGET) -> Response:
    """Let what was paused go on; with a higher budget where that is spent."""
    return await _steer(
        services, BATCHES, id, partial(resume, budget=options.budget, principal=services.principal)
    )


@router.post(
    "/v1/batches/{id}/retry",
    status_code=HTTPStatus.ACCEPTED,
    summary="Retry a batch",
    response_model=Steering,
    responses=answers(
        HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED
    ),
)
async def retry_batch(id: UUID, services: ServicesOf, options: Retry = PLAIN_RETRY) -> Response:
    """Try what failed or was cancelled again, from where it ended."""
    return await _steer(services, BATCHES, id, _retry(services, options))


@router.post(
    "/v1/runs/{id}/cancel",
    status_code=HTTPStatus.ACCEPTED,
    summary="Cancel a run",
    response_model=Steering,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED),
)
async def cancel_run(id: UUID, services: ServicesOf, options: NoOptions = NO_OPTIONS) -> Response:
    """End a run. What a worker plays ends when the worker learns of it."""
    return await _steer(services, RUNS, id, cancel)


@router.post(
    "/v1/runs/{id}/pause",
    status_code=HTTPStatus.ACCEPTED,
    summary="Pause a run",
    response_model=Steering,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED),
)
async def pause_run(id: UUID, services: ServicesOf, options: NoOptions = NO_OPTIONS) -> Response:
    """Put a run aside. A worker finishes the model call it is in."""
    return await _steer(services, RUNS, id, pause)


@router.post(
    "/v1/runs/{id}/resume",
    status_code=HTTPStatus.ACCEPTED,
    summary="Resume a run",
    response_model=Steering,
    responses=answers(
        HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED
    ),
)
async def resume_run(id: UUID, services: ServicesOf, options: NewBudget = SAME_BUDGET) -> Response:
    """Let what was paused go on; with a higher budget where that is spent."""
    return await _steer(
        services, RUNS, id, partial(resume, budget=options.budget, principal=services.principal)
    )


@router.post(
    "/v1/runs/{id}/retry",
    status_code=HTTPStatus.ACCEPTED,
    summary="Retry a run",
    response_model=Steering,
    responses=answers(
        HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, located=HTTPStatus.ACCEPTED
    ),
)
async def retry_run(id: UUID, services: ServicesOf, options: Retry = PLAIN_RETRY) -> Response:
    """Try what failed or was cancelled again, from where it ended."""
    return await _steer(services, RUNS, id, _retry(services, options))


def _retry(services: Services, options: Retry) -> Command:
    principal = services.principal
    return partial(retry, budget=options.budget, from_scratch=options.from_scratch, principal=principal)


async def _steer(services: Services, target: Target, id: UUID, command: Command) -> Response:
    await target.find(services.pool, id)
    effect = await steer(services.pool, services.settings.redis_url, id, command)
    document = {"changed": effect.changed, "asked": effect.requested, "lifted": list(effect.lifted_models)}
    return json_response(document, HTTPStatus.ACCEPTED, headers={"Location": f"/v1/{target.name}/{id}"})
