"""What can be asked of the API: the acts as requests. Written by `docs/generate.py` from `chiron_api.acts`."""

# ruff: noqa: PLR0913  # a parameter for each option
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import uuid4

from chiron_api.answers.basics import Receipt
from chiron_api.answers.facts import Fact, FoundFact
from chiron_api.answers.runs import Batch, BatchList, Run, RunId, RunList, RunReceipt, RunResult, Steering
from chiron_api.client.call import Call, Listing, entries, fields, get, pages
from chiron_api.client.targets import Id, id_of, target_of

Money = Decimal | float
ColumnType = Literal["text", "int", "float", "bool", "date", "url"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
RunState = Literal["queued", "running", "paused", "completed", "failed", "cancelled"]
ThinkingMode = Literal["auto", "adaptive", "between_tools", "enabled", "disabled"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the rows that are asked for; `description` says in words what belongs there."""

    name: str
    type: ColumnType = "text"
    description: str = ""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with options of its own; what is None comes from its batch."""

    topic: str
    subject: str | None = None
    role: str | None = None
    model: str | None = None
    thinking: ThinkingMode | None = None
    effort: Effort | None = None
    priority: int | None = None
    max_turns: int | None = None
    budget_usd: Money | None = None
    budget_tokens: int | None = None
    ready_at: datetime | None = None


def batch(batch: Id | Batch | Receipt | RunReceipt) -> Call[Batch]:
    """One batch with its runs counted by state; one of a subscription with what it changed."""
    return get("/v1/batches/{id}", Batch, target=id_of("batch", batch))


def batches() -> Listing[Batch]:
    """Batches, newest first, in pages; `next` is null on the last one."""
    return pages("/v1/batches", BatchList)


def cancel(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """End all open runs of a batch. What a worker plays ends when the worker learns of it."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/cancel", Steering, target=target, body=fields())


def delete(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    with_facts: bool = False,
) -> Call[None]:
    """Delete a finished batch with its runs; 409 while one of them is open."""
    folder, target = target_of(batch, run)
    return Call("DELETE", f"/v1/{folder}/{{id}}", None, target=target, query=fields(with_facts=with_facts))


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


def run(run: Id | Run | RunResult | RunReceipt) -> Call[Run]:
    """One run with its answer or its error."""
    return get("/v1/runs/{id}", Run, target=id_of("run", run))


def runs(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    state: RunState | None = None,
    subject: str | None = None,
) -> Listing[Run]:
    """Runs, newest first, in pages; `next` is null on the last one. Their evaluations are left out."""
    return pages("/v1/runs", RunList, batch=batch and id_of("batch", batch), state=state, subject=subject)


def say(run: Id | Run | RunResult | RunReceipt, text: str) -> Call[RunId]:
    """Continue the conversation with a run; 409 if the run was cancelled."""
    return Call("POST", "/v1/runs/{id}/messages", RunId, target=id_of("run", run), body=fields(text=text))


def start(
    topic: str,
    subject: str,
    *,
    role: str | None = None,
    model: str | None = None,
    thinking: ThinkingMode | None = None,
    effort: Effort | None = None,
    priority: int | None = None,
    max_turns: int | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    ready_at: datetime | None = None,
    columns: Sequence[str | Column] | None = None,
    idempotency_key: str | None = None,
) -> Call[RunReceipt]:
    """Start a single run, in a batch of its own. The same idempotency key with the same request gives the same run.

    Args:
        columns: Of the rows that the runs are to hand in, such as "name" and "year:int".
    """
    return Call(
        "POST",
        "/v1/runs",
        RunReceipt,
        body=fields(
            topic=topic,
            subject=subject,
            role=role,
            model=model,
            thinking=thinking,
            effort=effort,
            priority=priority,
            max_turns=max_turns,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            ready_at=ready_at,
            columns=entries(columns),
        ),
        headers={"Idempotency-Key": idempotency_key or str(uuid4())},
        is_repeatable=True,
    )


def submit(
    topics: Sequence[str | Topic],
    subject: str,
    *,
    name: str = "",
    role: str = "research",
    model: str | None = None,
    thinking: ThinkingMode | None = None,
    effort: Effort | None = None,
    priority: int = 0,
    max_turns: int | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    run_budget_usd: Money | None = None,
    run_budget_tokens: int | None = None,
    concurrency: int | None = None,
    ready_at: datetime | None = None,
    columns: Sequence[str | Column] | None = None,
    idempotency_key: str | None = None,
) -> Call[Receipt]:
    """Start research that goes on for minutes to hours: a run for each topic finds sources and stores facts.

    The answer comes at once; facts are found by searches as they come. The same idempotency key with the same request
    gives the same batch, and starts nothing twice.

    Args:
        topics: What to find out: a question or topic for each run, as text or with options of its own.
        subject: What the facts belong to, by its id or any name; a new one is made.
        name: What the batch is called; left out, as its topics are.
        role: What the agents are.
        model: What plays the runs; left out, the model of the settings.
        thinking: How the model thinks; left out, as the settings say.
        effort: How much effort the model makes; left out, as the settings say.
        priority: Higher goes first.
        max_turns: How many replies of the model a run may take; left out, as the settings say.
        budget_usd: What the whole batch may cost; it pauses there.
        budget_tokens: How many tokens the whole batch may use.
        run_budget_usd: What each run may cost; left out, as the settings say.
        run_budget_tokens: How many tokens each run may use.
        concurrency: How many runs of the batch play at once; left out, any number.
        ready_at: When the first run may start, a time with its zone; left out, now.
        columns: Of the rows that the runs are to hand in, such as "name" and "year:int".
    """
    return Call(
        "POST",
        "/v1/batches",
        Receipt,
        body=fields(
            topics=entries(topics),
            subject=subject,
            name=name,
            role=role,
            model=model,
            thinking=thinking,
            effort=effort,
            priority=priority,
            max_turns=max_turns,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            run_budget_usd=run_budget_usd,
            run_budget_tokens=run_budget_tokens,
            concurrency=concurrency,
            ready_at=ready_at,
            columns=entries(columns),
        ),
        headers={"Idempotency-Key": idempotency_key or str(uuid4())},
        is_repeatable=True,
    )


def withdraw(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/withdraw", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )
