"""Steering: of a batch, or of a single run by `run=`."""

from chiron_api.answers.runs import Steering
from chiron_api.client.call import Call, fields
from chiron_api.client.calls.batches import Money
from chiron_api.client.targets import BatchRef, RunRef, target_of


def cancel(batch: BatchRef | None = None, *, run: RunRef | None = None) -> Call[Steering]:
    """End what is open. What a worker plays ends when the worker learns of it. Raises Refused if nothing is open."""
    return _steer("cancel", batch, run)


def pause(batch: BatchRef | None = None, *, run: RunRef | None = None) -> Call[Steering]:
    """Put aside what is open. A worker finishes the model call it is in."""
    return _steer("pause", batch, run)


def resume(
    batch: BatchRef | None = None,
    *,
    run: RunRef | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
) -> Call[Steering]:
    """Let what was paused go on; the budgets are what it may cost in all from now on."""
    return _steer("resume", batch, run, budget_usd=budget_usd, budget_tokens=budget_tokens)


def retry(
    batch: BatchRef | None = None,
    *,
    run: RunRef | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    from_scratch: bool = False,
) -> Call[Steering]:
    """Try what failed or was cancelled again, from where it ended, or `from_scratch`."""
    return _steer(
        "retry", batch, run, budget_usd=budget_usd, budget_tokens=budget_tokens, from_scratch=from_scratch
    )


def delete(
    batch: BatchRef | None = None, *, run: RunRef | None = None, with_facts: bool = False
) -> Call[None]:
    """Delete what is finished for good, with its journal and events; and, if that is said, the facts it found first."""
    folder, target = target_of(batch, run)
    return Call("DELETE", f"/v1/{folder}/{{id}}", None, target=target, query={"with_facts": with_facts})


def _steer(verb: str, batch: BatchRef | None, run: RunRef | None, **body: object) -> Call[Steering]:
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/{verb}", Steering, target=target, body=fields(**body))
