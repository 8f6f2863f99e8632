"""Runs: look at them, talk to them; and the events of runs and batches."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from chiron_api.answers.basics import RunState
from chiron_api.answers.runs import Run, RunId, RunList, RunReceipt
from chiron_api.client.call import Call, Listing, fields, get, pages
from chiron_api.client.calls.batches import Effort, Money, Thinking
from chiron_api.client.columns import Column, column_fields
from chiron_api.client.targets import BatchRef, RunRef, batch_id, run_id, target_of


def start(  # noqa: PLR0913  # the fields of a run
    topic: str,
    *,
    subject: str,
    role: str | None = None,
    model: str | None = None,
    thinking: Thinking | None = None,
    effort: Effort | None = None,
    priority: int | None = None,
    max_turns: int | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    ready_at: datetime | None = None,
    columns: Sequence[str | Column] | None = None,
    idempotency_key: str | None = None,
) -> Call[RunReceipt]:
    """Start a single run, in a batch of its own; with an idempotency key and columns as `submit` has them."""
    body = fields(
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
        columns=column_fields(columns),
    )
    headers = {"Idempotency-Key": idempotency_key or str(uuid4())}
    return Call("POST", "/v1/runs", RunReceipt, body=body, headers=headers, is_repeatable=True)


def runs(
    batch: BatchRef | None = None, *, state: RunState | None = None, subject: str | None = None
) -> Listing[Run]:
    """Runs, newest first, of one batch, state or subject where it is named; their evaluations are left out."""
    parent = None if batch is None else batch_id(batch)
    return pages("/v1/runs", RunList, batch=parent, state=state, subject=subject)


def run(run: RunRef) -> Call[Run]:
    """A run with its answer or its error."""
    return get("/v1/runs/{id}", Run, target=run_id(run))


def say(run: RunRef, text: str) -> Call[RunId]:
    """Continue the conversation with a run. Raises Refused if it was cancelled."""
    return Call("POST", "/v1/runs/{id}/messages", RunId, target=run_id(run), body={"text": text})


def events(
    batch: BatchRef | None = None,
    *,
    run: RunRef | None = None,
    after: str | None = None,
    history: bool = False,
    text: bool = False,
) -> Call[Any]:
    """The events of a batch, or of a `run`: after the one with the id `after`, with `history` all; a stream."""
    folder, target = target_of(batch, run)
    query = {name: True for name, is_set in (("history", history), ("text", text)) if is_set}
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": after} if after else {})
    return get(f"/v1/{folder}/{{id}}/events", None, target=target, query=query, headers=headers)
