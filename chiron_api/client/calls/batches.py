"""Batches: submit them, look at them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import uuid4

from chiron_api.answers.basics import Receipt
from chiron_api.answers.runs import Batch, BatchList, RunResult
from chiron_api.client.call import Call, Listing, fields, get, pages
from chiron_api.client.columns import Column, column_fields
from chiron_api.client.targets import BatchRef, batch_id

Money = Decimal | float
Thinking = Literal["auto", "adaptive", "between_tools", "enabled", "disabled"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with options of its own; what is None is as its batch has it."""

    topic: str
    subject: str | None = None
    role: str | None = None
    model: str | None = None
    thinking: Thinking | None = None
    effort: Effort | None = None
    priority: int | None = None
    max_turns: int | None = None
    budget_usd: Money | None = None
    budget_tokens: int | None = None
    ready_at: datetime | None = None


def submit(  # noqa: PLR0913  # the fields of a batch
    topics: Sequence[str | Topic],
    *,
    subject: str,
    name: str | None = None,
    role: str | None = None,
    model: str | None = None,
    thinking: Thinking | None = None,
    effort: Effort | None = None,
    priority: int | None = None,
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
    """Submit topics; each becomes a run. What is None is as the server has it.

    The call has an idempotency key of its own, which its repetitions keep, so a batch is stored once. Give one to
    submit the same batch once over several calls as well, say from a script that is started again.

    Args:
        budget_usd: What the whole batch may cost; `run_budget_usd` binds each run.
        concurrency: How many runs of the batch play at once.
        ready_at: When the first may start, a time with its zone.
        columns: Of the rows that its runs are to hand in, such as "name" and "year:int".
    """
    body = fields(
        topics=[fields(**asdict(topic)) if isinstance(topic, Topic) else topic for topic in topics],
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
        columns=column_fields(columns),
    )
    headers = {"Idempotency-Key": idempotency_key or str(uuid4())}
    return Call("POST", "/v1/batches", Receipt, body=body, headers=headers, is_repeatable=True)


def batch(batch: BatchRef) -> Call[Batch]:
    """A batch with the sums of its runs; of one that a subscription started, what it has brought."""
    return get("/v1/batches/{id}", Batch, target=batch_id(batch))


def batches() -> Listing[Batch]:
    """All batches, newest first; pages are fetched as they are needed."""
    return pages("/v1/batches", BatchList)


def results(batch: BatchRef) -> Call[RunResult]:
    """All runs of a batch in the order of its topics, as far as they have come; a stream."""
    return get("/v1/batches/{id}/results", RunResult, target=batch_id(batch))
