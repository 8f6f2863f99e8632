import asyncio
import random
from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import structlog
from structlog.contextvars import bound_contextvars

from chiron_workers.agent.answer import Answer
from chiron_workers.agent.metered_model import MeteredModel
from chiron_workers.agent.play import Stopped, play
from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.cancellation import cancel_until_done
from chiron_workers.db.outages import is_transient, through_outage
from chiron_workers.errors import (
    BudgetSpent,
    ChironError,
    KeyRefused,
    LeaseLost,
    ModelHeld,
    ModelUnavailable,
    MoneyReserved,
    NoProgress,
    Overcharged,
    PriceUnknown,
    RunFailed,
    UsageError,
)
from chiron_workers.instruments import record_lease_loss, record_pause
from chiron_workers.knowledge.run_facts import find_cited
from chiron_workers.model import Model
from chiron_workers.problems import CONTINUE_BATCH, as_json, change_setting
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.model_holds import hold, hold_refused, pause_refused
from chiron_workers.runs.progress import has_progressed, waited_for_model_s
from chiron_workers.runs.release import Release, failed_release, paused_release
from chiron_workers.settings import Settings
from chiron_workers.states import EventKind, Outcome, RunState, StopRequest
from chiron_workers.telemetry import spans

log = structlog.get_logger()

MONEY_RETRY = timedelta(seconds=60)
CRASH_RETRY_S = 6.0  # after the first crash; four times as long after each further one
CRASH_RETRY_MAX_S = 3600.0
MODEL_RETRY_MAX_S = 900.0
# The hold keeps the run for longer, and whoever lifts it keeps nobody waiting.
HELD_RETRY = timedelta(seconds=5)
REFUSED_REMEDY = (
    "It was refused for five minutes: mend the key, and restart the workers; then the runs can continue."
)
MEND_KEY = (change_setting("ANTHROPIC_API_KEY"), CONTINUE_BATCH)
# Why a run pauses for each of these errors.
PAUSES: dict[type[ChironError], str] = {
    PriceUnknown: "price",
    Overcharged: "reported_cost",
    NoProgress: "no_progress",
}
RELEASE_S = 5.0  # for the release of a run that is cancelled
SHOWN_CHARS = 2_000  # of an answer in its event


class Execution:
    """One execution of a run under its lease: played to its end, or released with the reason in its events."""

    def __init__(self, run: Run, journal: Journal, model: Model, tools: Toolbox, settings: Settings) -> None:
        self.run = run
        self.is_stopping = False
        self.confirmed_on = run.server_started_at  # the start of the server that last confirmed the lease
        self._journal = journal
        self._model = MeteredModel(run, model, journal.pool, settings)
        self._tools = tools
        self._settings = settings
        self._task: asyncio.Task[Outcome] | None = None
        self._reason = "the worker stops"
        self._canceller: asyncio.Task[None] | None = None
        self._is_dropped = False
        self._has_lost_lease = False

    async def execute(self) -> Outcome:
        """Play the run and release it; log lines and spans of it name the run."""
        run = self.run
        with bound_contextvars(run_id=str(run.id), batch_id=str(run.batch_id)), spans.execution(run) as span:
            outcome = await self._execute()
            span.ended(outcome)
            return outcome

    def stop(self, reason: str) -> None:
        """Release the run as soon as the call in flight is answered and its reply is in the journal."""
        self._reason = reason
        self.is_stopping = True

    def cancel(self, reason: str) -> None:
        """Stop in the middle of a call and release the run."""
        self._reason = reason
        self._cancel_task()

    def interrupt(self, stop_requested: StopRequest) -> None:
        """Release a run that somebody wants stopped: a cancel ends the call in flight, a pause waits for its reply.

        The release decides what becomes of the run: by then somebody may have requested something else.
        """
        if stop_requested == StopRequest.CANCEL:
            self.cancel("asked for")
        else:
            self.stop("asked for")

    def drop(self) -> None:
        """Stop in the middle of a call and write nothing: another worker has the lease."""
        self._is_dropped = self._has_lost_lease = True
        self._cancel_task()

    def _cancel_task(self) -> None:
        # A single cancel may be lost. The commit of a paid reply holds out against all of them for a while.
        if self._task is not None and self._canceller is None:
            self._canceller = asyncio.create_task(cancel_until_done([self._task]))

    async def _execute(self) -> Outcome:
        self._task = asyncio.create_task(self._play_and_release())
        try:
            return await self._task
        except asyncio.CancelledError:  # by `cancel` or `drop`
            if self._is_dropped:
                return Outcome.LEFT
            return await self._release_soon(hand_back(self._reason))
        finally:
            if self._has_lost_lease:
                record_lease_loss()
            await self._tools.forget(self.run)

    async def _play_and_release(self) -> Outcome:
        while True:  # ends: each round answers messages that came while the run completed
            outcome = await self._release(await self._play())
            if outcome is not Outcome.NOT_OURS:
                return outcome

    async def _play(self) -> Release | None:
        """How the run is to be released; None if its lease is lost or Postgres is away."""
        run, settings = self.run, self._settings
        try:
            answer = await play(
                run, self._journal, self._model, self._tools, settings, lambda: self.is_stopping
            )
            cited_ids = await through_outage(lambda: find_cited(self._journal.pool, run.id, answer.text))
            return completion(answer, cited_ids=cited_ids)
        except LeaseLost:
            self._has_lost_lease = True
            return None
        except Stopped:
            return hand_back(self._reason)
        except tuple(PAUSES) as error:
            return paused_release(PAUSES[type(error)], str(error), error.remedies)
        except BudgetSpent as error:
            return stop_at_budget(error)
        except MoneyReserved as error:
            return hand_back(str(error), ready_in=MONEY_RETRY)
        except KeyRefused as error:
            return await self._key_refused(error)
        except ModelUnavailable as error:
            return await self._model_unavailable(error)
        except RunFailed as error:
            return failed_release(error.kind, str(error), error.remedies)
        except UsageError as error:
            return failed_release("usage", str(error))
        except Exception as error:
            if is_transient(error):
                self._log_outage(error)
                return None
            log.exception("run.crashed", run_id=str(run.id), batch_id=str(run.batch_id))
            return await self._crashed(f"{type(error).__name__}: {error}")

    async def _model_unavailable(self, error: ModelUnavailable) -> Release:
        # An unavailable model is no fault of the run: it uses up patience, and no attempts.
        run, journal, reason = self.run, self._journal, str(error)
        waited_s = await waited_for_model_s(journal.pool, run)
        if waited_s > self._settings.model_patience_s:
            return failed_release("model", f"{reason} The run waited {waited_s / 3600:.1f} hours for it.")
        if isinstance(error, ModelHeld):
            hold_for = timedelta(seconds=error.retry_after_s)
            if error.is_news:  # only then, or a hold that somebody lifted would be set again
                await through_outage(lambda: hold(journal.pool, run.model, hold_for=hold_for, reason=reason))
            return wait_for_model(reason, hold_for, ready_in=HELD_RETRY)
        longest_s = max(error.retry_after_s, min(waited_s / 2, MODEL_RETRY_MAX_S))
        retry_after = timedelta(seconds=random.uniform(1, 1.25) * longest_s)  # noqa: S311  # no secret
        return wait_for_model(reason, retry_after, ready_in=retry_after)

    async def _key_refused(self, error: KeyRefused) -> Release:
        # No fault of the run: it waits with the others of its model, and after minutes they wait for a person.
        run, pool, reason = self.run, self._journal.pool, str(error)
        hold_for = timedelta(seconds=error.retry_after_s)
        if error.is_news and await through_outage(
            lambda: hold_refused(pool, run.model, run.id, hold_for=hold_for, reason=reason)
        ):
            reason = f"{reason} {REFUSED_REMEDY}"
            paused_events = await through_outage(lambda: pause_refused(pool, run.model, reason, MEND_KEY))
            self._journal.publish_all(paused_events)
            return paused_release("credentials", reason, MEND_KEY)
        return wait_for_model(reason, hold_for, ready_in=HELD_RETRY)

    async def _crashed(self, reason: str) -> Release | None:
        is_last = self.run.attempt >= self._settings.max_attempts
        try:
            if is_last and not await has_progressed(self._journal.pool, self.run):
                return failed_release("crash", reason)
        except LeaseLost:
            self._has_lost_lease = True
            return None
        retry_s = min(CRASH_RETRY_S * 4 ** (self.run.attempt - 1), CRASH_RETRY_MAX_S)
        return hand_back(reason, ready_in=timedelta(seconds=retry_s), counts=True)

    async def _release_soon(self, release: Release) -> Outcome:
        # A worker that ends is killed some time after its drain, and waits for no server that is away.
        try:
            async with asyncio.timeout(RELEASE_S):
                return await self._release(release)
        except TimeoutError:
            log.warning("run.left", run_id=str(self.run.id), reason=f"no release within {RELEASE_S:g} s")
            return Outcome.LEFT

    async def _release(self, release: Release | None, *, is_last_try: bool = False) -> Outcome:
        if release is None:
            return Outcome.LEFT
        try:
            await self._model.free_advance()
            if not await self._journal.release(self.run, release):
                return Outcome.NOT_OURS
        except LeaseLost:
            self._has_lost_lease = True
            return Outcome.LEFT
        except Exception as error:  # the lease runs out, and the run is rescued
            if is_transient(error):
                self._log_outage(error)
                return Outcome.LEFT
            log.exception("run.not_released", run_id=str(self.run.id))
            return await self._release_unreleased(error, is_last_try=is_last_try)
        if release.state is RunState.PAUSED and release.error:
            record_pause(release.error["kind"])
        return {RunState.COMPLETED: Outcome.PLAYED, RunState.FAILED: Outcome.FAILED}.get(
            release.state, Outcome.LEFT
        )

    async def _release_unreleased(self, error: Exception, *, is_last_try: bool) -> Outcome:
        # What Postgres refuses of a release may be its answer. The run would be played again and again, to the same end.
        if is_last_try:
            return Outcome.LEFT
        release = await self._crashed(f"{type(error).__name__}: {error}")
        return await self._release(release, is_last_try=True)

    def _log_outage(self, error: BaseException) -> None:
        log.warning(
            "run.left",
            run_id=str(self.run.id),
            reason="Postgres is away or refuses",
            error=str(error).strip(),
        )


def completion(answer: Answer, *, cited_ids: Collection[str] = ()) -> Release:
    """Complete a run with its last words as its answer, which cites some facts."""
    data: dict[str, object] = {"answer": answer.text[:SHOWN_CHARS]}
    if answer.is_silent:
        data["silent"] = True
    events = ((EventKind.RUN_COMPLETED, data),)
    return Release(
        RunState.COMPLETED, events, answer=answer.text, silent=answer.is_silent, cited_ids=cited_ids
    )


def hand_back(reason: str, *, ready_in: timedelta = timedelta(), counts: bool = False) -> Release:
    """Put a run back into the queue, to be leased again after `ready_in`."""
    data = {"reason": reason, "ready_in_s": ready_in.total_seconds()}
    return Release(RunState.QUEUED, ((EventKind.RUN_HANDED_BACK, data),), ready_in=ready_in, counts=counts)


def wait_for_model(reason: str, retry_after: timedelta, *, ready_in: timedelta) -> Release:
    """Put a run back into the queue since its model is unavailable; `waits_for` in the event marks the wait's beginning."""
    data = {"reason": reason, "waits_for": "model", "ready_in_s": retry_after.total_seconds()}
    return Release(RunState.QUEUED, ((EventKind.RUN_HANDED_BACK, data),), ready_in=ready_in)


def stop_at_budget(error: BudgetSpent) -> Release:
    """Pause a run until somebody raises its budget, or queue it until the next day brings one."""
    reason = str(error)
    data: dict[str, object] = {"reason": reason}
    if error.retry_after_s is not None:
        later = hand_back(reason, ready_in=timedelta(seconds=error.retry_after_s))
        return replace(later, events=((EventKind.BUDGET_REACHED, data), *later.events))
    remedies = as_json(error.remedies)
    events = ((EventKind.BUDGET_REACHED, data), (EventKind.RUN_PAUSED, data | remedies))
    problem = {"kind": "budget", "message": reason, **error.limit, **remedies}
    return Release(RunState.PAUSED, events, error=problem)
