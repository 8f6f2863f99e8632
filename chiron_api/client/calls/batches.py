"""Batches and runs as streams: results and events."""

from decimal import Decimal
from typing import Any

from chiron_api.answers.runs import RunResult
from chiron_api.client.call import Call, get
from chiron_api.client.targets import BatchRef, RunRef, batch_id, target_of

Money = Decimal | float


def results(batch: BatchRef) -> Call[RunResult]:
    """All runs of a batch in the order of its topics, as far as they have come; a stream."""
    return get("/v1/batches/{id}/results", RunResult, target=batch_id(batch))


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
