"""How an execution releases its run: completed, back into the queue, or paused for its budget; `failure` is in runs/release."""

from dataclasses import replace
from datetime import timedelta

from chiron_workers.agent.play import Answer
from chiron_workers.runs.release import Release
from chiron_workers.states import EventKind, RunState

SHOWN_CHARS = 2_000  # of an answer in its event


def completion(answer: Answer) -> Release:
    """Complete a run with its last words as its answer."""
    data: dict[str, object] = {"answer": answer.text[:SHOWN_CHARS]}
    if answer.is_silent:
        data["silent"] = True
    events = ((EventKind.RUN_COMPLETED, data),)
    return Release(RunState.COMPLETED, events, answer=answer.text, silent=answer.is_silent)


def hand_back(reason: str, *, ready_in: timedelta = timedelta(), counts: bool = False) -> Release:
    """Put a run back into the queue, to be leased again after `ready_in`."""
    data = {"reason": reason, "ready_in_s": ready_in.total_seconds()}
    return Release(RunState.QUEUED, ((EventKind.RUN_HANDED_BACK, data),), ready_in=ready_in, counts=counts)


def wait_for_model(reason: str, retry_after: timedelta, *, ready_in: timedelta) -> Release:
    """Put a run back into the queue since its model is unavailable; `waits_for` in the event marks the wait's beginning."""
    data = {"reason": reason, "waits_for": "model", "ready_in_s": retry_after.total_seconds()}
    return Release(RunState.QUEUED, ((EventKind.RUN_HANDED_BACK, data),), ready_in=ready_in)


def stop_at_budget(reason: str, *, retry_after_s: float | None = None) -> Release:
    """Pause a run until somebody raises its budget, or queue it until the next day brings one."""
    data = {"reason": reason}
    if retry_after_s is not None:
        later = hand_back(reason, ready_in=timedelta(seconds=retry_after_s))
        return replace(later, events=((EventKind.BUDGET_REACHED, data), *later.events))
    events = ((EventKind.BUDGET_REACHED, data), (EventKind.RUN_PAUSED, data))
    return Release(RunState.PAUSED, events, error={"kind": "budget", "message": reason})
