import asyncio
import random
from dataclasses import replace
from datetime import timedelta

import structlog
from structlog.contextvars import bound_contextvars

from chiron_workers.agent.metered_model import PaidModel
from chiron_workers.agent.play import Answer, Stopped, play
from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.db.connect import is_outage
from chiron_workers.db.retry import through_outage
from chiron_workers.errors import (
    BudgetSpent,
    LeaseLost,
    ModelHeld,
    ModelUnavailable,
    MoneyReserved,
    RunFailed,
    UsageError,
)
from chiron_workers.model import Model
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.model_holds import hold
from chiron_workers.runs.release import Release, failure
from chiron_workers.settings import Settings
from chiron_workers.states import EventKind, Outcome, RunState
from chiron_workers.telemetry import spans

log = structlog.get_logger()

SHOWN_CHARS = 2_000  # of an answer in its event
FIRST_ABSENCE_S = 60.0
FIRST_CRASH_ABSENCE_S = 6.0
LONGEST_ABSENCE_S = 3600.0
LONGEST_MODEL_ABSENCE_S = 900.0
HELD_ABSENCE = timedelta(
    seconds=5
)  # the hold keeps the run for longer, and whoever lifts it keeps nobody waiting


class Taking:
    """One taking of a run: played to its end, or let go of with the reason in its events."""

    def __init__(self, run: Run, journal: Journal, model: Model, tools: Toolbox, settings: Settings) -> None:
        self.run = run
        self.must_stop = False
        self._journal = journal
        self._model = PaidModel(run, model, journal.pool, settings)
        self._tools = tools
        self._settings = settings
        self._task: asyncio.Task[Outcome] | None = None
        self._reason = "the worker stops"
        self._is_cut = False
        self._is_abandoned = False

    async def carry(self) -> Outcome:
        """Play the run and end the taking; what is logged and traced meanwhile names the run."""
        run = self.run
        with bound_contextvars(run_id=str(run.id), batch_id=str(run.batch_id)), spans.taking(run) as span:
            outcome = await self._carried()
            span.ended(outcome)
            return outcome

    async def _carried(self) -> Outcome:
        self._task = asyncio.create_task(self._play_to_the_end())
        try:
            return await self._task
        except asyncio.CancelledError:  # by `cut` or `abandon`
            return await self._end(None if self._is_abandoned else handed_back(self._reason))
        finally:
            await self._tools.leave(self.run)

    def stop(self, reason: str) -> None:
        """Hand the run back as soon as the call in flight is answered and its reply is in the journal."""
        self._reason = reason
        self.must_stop = True

    def cut(self, reason: str) -> None:
        """Stop in the middle of a call and hand the run back."""
        self._reason = reason
        self._cancel()

    def request_stop(self, request: str) -> None:
        """Let go of a run that somebody wants stopped: a cancel cuts the call in flight, a pause waits for its reply.

        What becomes of the run is decided where it is released: by then somebody may want something else.
        """
        if request == "cancel":
            self.cut("asked for")
        else:
            self.stop("asked for")

    def abandon(self) -> None:
        """Stop in the middle of a call and write nothing: the run belongs to somebody else."""
        self._is_abandoned = True
        self._cancel()

    def _cancel(self) -> None:
        # Once only: a second time would cut the commit of a paid reply, for which the first one waits.
        if self._task is not None and not self._is_cut:
            self._is_cut = True
            self._task.cancel()

    async def _play_to_the_end(self) -> Outcome:
        while True:  # ends: each round answers messages that came while the run completed
            ending = await self._played()
            outcome = await self._end(ending)
            if outcome is not Outcome.NOT_OURS:
                return outcome

    async def _played(self) -> Release | None:
        run, settings = self.run, self._settings
        try:
            answer = await play(
                run, self._journal, self._model, self._tools, settings, lambda: self.must_stop
            )
            return completed(answer)
        except LeaseLost:
            return None
        except Stopped:
            return handed_back(self._reason)
        except BudgetSpent as error:
            return out_of_budget(str(error), retry_after_s=error.retry_after_s)
        except MoneyReserved as error:
            return handed_back(str(error), ready_in=timedelta(seconds=FIRST_ABSENCE_S))
        except ModelUnavailable as error:
            return await self._waiting_for_model(error)
        except RunFailed as error:
            return failure(error.kind, str(error))
        except UsageError as error:
            return failure("usage", str(error))
        except Exception as error:
            if is_outage(error):
                self._tell_outage(error)
                return None
            log.exception("run.crashed", run_id=str(run.id), batch_id=str(run.batch_id))
            return await self._after_crash(f"{type(error).__name__}: {error}")

    async def _waiting_for_model(self, error: ModelUnavailable) -> Release:
        # A model that is away is no fault of the run: it uses up patience, and no attempts.
        run, journal, reason = self.run, self._journal, str(error)
        waited_s = await journal.waited_for_model_s(run)
        if waited_s > self._settings.model_patience_s:
            return failure("model", f"{reason} The run waited {waited_s / 3600:.1f} hours for it.")
        if isinstance(error, ModelHeld):
            hold_for = timedelta(seconds=error.retry_after_s)
            if error.is_news:  # only then, or somebody's lifting of the hold would be undone
                await through_outage(lambda: hold(journal.pool, run.model, hold_for=hold_for, reason=reason))
            return sent_back_by_model(reason, hold_for, ready_in=HELD_ABSENCE)
        longest_s = max(error.retry_after_s, min(waited_s / 2, LONGEST_MODEL_ABSENCE_S))
        absence = timedelta(seconds=random.uniform(1, 1.25) * longest_s)  # noqa: S311  # no secret
        return sent_back_by_model(reason, absence, ready_in=absence)

    async def _after_crash(self, reason: str) -> Release | None:
        is_last = self.run.attempt >= self._settings.max_attempts
        try:
            if is_last and not await self._journal.has_progressed(self.run):
                return failure("crash", reason)
        except LeaseLost:
            return None
        absence_s = min(FIRST_CRASH_ABSENCE_S * 4 ** (self.run.attempt - 1), LONGEST_ABSENCE_S)
        return handed_back(reason, ready_in=timedelta(seconds=absence_s), counts=True)

    async def _end(self, ending: Release | None) -> Outcome:
        if ending is None:
            return Outcome.LEFT
        try:
            if not await self._journal.release(self.run, ending):
                return Outcome.NOT_OURS
        except LeaseLost:
            return Outcome.LEFT
        except Exception as error:  # the lease runs out, and the rescue counts the attempt
            if is_outage(error):
                self._tell_outage(error)
            else:
                log.exception("run.not_released", run_id=str(self.run.id))
            return Outcome.LEFT
        return {RunState.COMPLETED: Outcome.PLAYED, RunState.FAILED: Outcome.FAILED}.get(
            ending.state, Outcome.LEFT
        )

    def _tell_outage(self, error: BaseException) -> None:
        log.warning("run.left", run_id=str(self.run.id), reason="Postgres is away", error=str(error).strip())


def completed(answer: Answer) -> Release:
    """A run's end with its last words as its answer."""
    data: dict[str, object] = {"answer": answer.text[:SHOWN_CHARS]}
    if answer.is_silent:
        data["silent"] = True
    events = ((EventKind.RUN_COMPLETED, data),)
    return Release(RunState.COMPLETED, events, answer=answer.text, silent=answer.is_silent)


def handed_back(reason: str, *, ready_in: timedelta = timedelta(), counts: bool = False) -> Release:
    """Back into the queue, to be claimed again after `ready_in`."""
    data = {"reason": reason, "ready_in_s": ready_in.total_seconds()}
    return Release(RunState.QUEUED, ((EventKind.RUN_HANDED_BACK, data),), ready_in=ready_in, counts=counts)


def sent_back_by_model(reason: str, absence: timedelta, *, ready_in: timedelta) -> Release:
    """Back into the queue since the model does not answer; `waits_for` tells since when it does not."""
    data = {"reason": reason, "waits_for": "model", "ready_in_s": absence.total_seconds()}
    return Release(RunState.QUEUED, ((EventKind.RUN_HANDED_BACK, data),), ready_in=ready_in)


def out_of_budget(reason: str, *, retry_after_s: float | None = None) -> Release:
    """Put aside until somebody raises the budget, or back into the queue until the next day brings one."""
    data = {"reason": reason}
    if retry_after_s is not None:
        later = handed_back(reason, ready_in=timedelta(seconds=retry_after_s))
        return replace(later, events=((EventKind.BUDGET_REACHED, data), *later.events))
    events = ((EventKind.BUDGET_REACHED, data), (EventKind.RUN_PAUSED, data))
    return Release(RunState.PAUSED, events, error={"kind": "budget", "message": reason})
