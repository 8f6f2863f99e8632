"""Steering: cancel, pause, resume and retry batches and runs."""

from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import NamedTuple
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Declare, Noun, Target
from chiron_api.acts.inputs import Flag, Input, Tokens, Usd
from chiron_api.acts.research import BATCH, RUN
from chiron_api.answers.runs import Steering
from chiron_api.services import Services
from chiron_workers.batches.steering import NO_CHANGE, SteeringResult, cancel, pause, resume, retry
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError

Command = Callable[[Pool, UUID], Awaitable[SteeringResult]]
STEERING = Noun("Steering")
PROBLEMS = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


class NoOptions(Input):
    """A command without options."""


class NewBudget(NoOptions):
    """The budget of the batch or the run from now on."""

    budget_usd: Usd | None = Field(
        None, description="What the batch or the run may cost from now on, in all."
    )
    budget_tokens: Tokens | None = Field(
        None, description="Tokens that the batch or the run may use from now on, in all."
    )

    @property
    def budget(self) -> Budget:
        """Both amounts."""
        return Budget(self.budget_usd, self.budget_tokens)


class BatchResume(NewBudget):
    """The budgets from now on, of the batch and of each of its runs."""

    run_budget_usd: Usd | None = Field(
        None,
        description="What each open run of the batch may cost from now on, in all; runs that may cost more keep that.",
    )
    run_budget_tokens: Tokens | None = Field(
        None,
        description="Tokens that each open run of the batch may use from now on, in all; runs that may use more keep that.",
    )

    @property
    def run_budget(self) -> Budget:
        """Both amounts for each run."""
        return Budget(self.run_budget_usd, self.run_budget_tokens)

    def of_run(self) -> NewBudget:
        """The same for a single run. Raises UsageError for a budget of each run, which only a batch has."""
        if self.run_budget != Budget():
            raise UsageError(
                "A budget for each run is for a batch. The budget of a single run is budget_usd, or budget_tokens."
            )
        return NewBudget(budget_usd=self.budget_usd, budget_tokens=self.budget_tokens)


class Retry(NewBudget):
    """`from_scratch` starts over instead of where the run ended."""

    from_scratch: Flag = Field(
        False,
        description="Start over instead of where the run ended; completed runs too. What they stored is kept.",
    )


NO_OPTIONS, SAME_BUDGET, SAME_BUDGETS, PLAIN_RETRY = NoOptions(), NewBudget(), BatchResume(), Retry()


class Kind(NamedTuple):
    """What is steered: the noun of its paths, what raises NotFound for an id of the other kind, and its name."""

    noun: str
    find: Callable[[Pool, UUID], Awaitable[object]]
    target: Target

    def act(self, verb: str, *tools: str, costs_money: bool = False) -> Declare:
        """Declare the command `verb` for it."""
        return STEERING.act(
            f"{self.noun}.{verb}",
            f"POST /v1/{self.noun}/{{id}}/{verb}",
            f"{verb.title()} a {self.target.name}",
            client=verb,
            faces=(f"POST /{self.noun}/{{id}}/{verb}", *tools),
            status=HTTPStatus.ACCEPTED,
            location=f"/v1/{self.noun}/{{id}}",
            problems=(*([HTTPStatus.PAYMENT_REQUIRED] if costs_money else []), *PROBLEMS),
            is_owned=True,
            costs_money=costs_money,
            target=self.target,
            tool_target="id" if tools else "",
            replaces=verb == "cancel",
        )

    async def steer(self, services: Services, target_id: UUID, command: Command) -> Steering:
        """Run a command on what has the id, if it is of this kind."""
        await self.find(services.pool, target_id)
        effect = await steer(services, target_id, command)
        return Steering(changed=effect.changed, asked=effect.requested, lifted=list(effect.lifted_models))


async def steer(services: Services, target_id: UUID, command: Command) -> SteeringResult:
    """Run a command, then notify workers and watchers. Raises what the command raises."""
    effect = await command(services.pool, target_id)
    await services.notify(target_id, events=effect.events, lifted=effect.lifted_models)
    return effect


BATCHES = Kind("batches", summary, BATCH)
RUNS = Kind("runs", run_summary, RUN)


@BATCHES.act("cancel")
async def cancel_batch(services: Services, id: UUID, options: NoOptions = NO_OPTIONS) -> Steering:
    """End all open runs of a batch. What a worker plays ends when the worker learns of it."""
    return await BATCHES.steer(services, id, cancel)


@BATCHES.act("pause")
async def pause_batch(services: Services, id: UUID, options: NoOptions = NO_OPTIONS) -> Steering:
    """Put all open runs of a batch aside. A worker finishes the model call it is in."""
    return await BATCHES.steer(services, id, pause)


@BATCHES.act("resume", costs_money=True)
async def resume_batch(services: Services, id: UUID, options: BatchResume = SAME_BUDGETS) -> Steering:
    """Continue the paused runs of a batch, with higher budgets where these are spent, and runs that used all their turns."""
    return await BATCHES.steer(services, id, _resume(services, options, run_budget=options.run_budget))


@BATCHES.act("retry", costs_money=True)
async def retry_batch(services: Services, id: UUID, options: Retry = PLAIN_RETRY) -> Steering:
    """Try what failed or was cancelled again, from where it ended."""
    return await BATCHES.steer(services, id, _retry(services, options))


@RUNS.act("cancel", "mcp cancel_run")
async def cancel_run(services: Services, id: UUID, options: NoOptions = NO_OPTIONS) -> Steering:
    """End a run. What a worker plays ends when the worker learns of it."""
    return await RUNS.steer(services, id, cancel)


@RUNS.act("pause")
async def pause_run(services: Services, id: UUID, options: NoOptions = NO_OPTIONS) -> Steering:
    """Put a run aside. A worker finishes the model call it is in."""
    return await RUNS.steer(services, id, pause)


@RUNS.act("resume", costs_money=True)
async def resume_run(services: Services, id: UUID, options: NewBudget = SAME_BUDGET) -> Steering:
    """Continue a run that is paused or used all its turns, with a higher budget where that is spent."""
    return await RUNS.steer(services, id, _resume(services, options))


@RUNS.act("retry", costs_money=True)
async def retry_run(services: Services, id: UUID, options: Retry = PLAIN_RETRY) -> Steering:
    """Try what failed or was cancelled again, from where it ended."""
    return await RUNS.steer(services, id, _retry(services, options))


def _resume(services: Services, options: NewBudget, *, run_budget: Budget = NO_CHANGE) -> Command:
    return partial(resume, budget=options.budget, run_budget=run_budget, principal=services.principal)


def _retry(services: Services, options: Retry) -> Command:
    principal = services.principal
    return partial(retry, budget=options.budget, from_scratch=options.from_scratch, principal=principal)
