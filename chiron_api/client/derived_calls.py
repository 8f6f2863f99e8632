"""What can be asked of the API: the acts as requests. Written by `docs/generate.py` from `chiron_api.acts`."""

# ruff: noqa: PLR0913  # a parameter for each option
from decimal import Decimal

from chiron_api.answers.basics import Receipt
from chiron_api.answers.facts import Fact, FoundFact
from chiron_api.answers.runs import Batch, Run, RunReceipt, RunResult, Steering
from chiron_api.client.call import Call, fields, get
from chiron_api.client.targets import Id, id_of, target_of

Money = Decimal | float


def cancel(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """End all open runs of a batch. What a worker plays ends when the worker learns of it."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/cancel", Steering, target=target, body=fields())


def fact(fact: Id | Fact | FoundFact) -> Call[Fact]:
    """A fact with its sources, the explanation of its confidence, what contradicts it, and its history."""
    return get("/v1/facts/{id}", Fact, target=id_of("fact", fact))


def pause(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """Put all open runs of a batch aside. A worker finishes the model call it is in."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/pause", Steering, target=target, body=fields())


def reinstate(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Take a withdrawal back. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/reinstate", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )


def resume(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
) -> Call[Steering]:
    """Let what was paused go on; with a higher budget where that is spent."""
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/resume",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens),
    )


def retry(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    from_scratch: bool = False,
) -> Call[Steering]:
    """Try what failed or was cancelled again, from where it ended."""
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/retry",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens, from_scratch=from_scratch),
    )


def withdraw(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/withdraw", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )
