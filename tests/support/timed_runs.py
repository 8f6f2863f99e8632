"""Runs whose events, entries and results have the times that a test gives them."""

import json
from datetime import timedelta
from uuid import UUID

from chiron_workers.ids import new_id
from support.research_rows import NOON, Shelf

TOKENS = {"input_tokens": 100, "output_tokens": 50, "cache_write_tokens": 10, "cache_read_tokens": 1_000}


class TimedRun:
    """A run whose rows have the times that a test gives them, in seconds after noon."""

    def __init__(self, shelf: Shelf, subject_id: str = "moon", **run: object) -> None:
        self.shelf, subject = shelf, shelf.subject(subject_id)
        self.batch_id = shelf.batch(subject)
        self.run_id: UUID = shelf.run(subject, self.batch_id, "Tides", **run)
        self.seq = self.n = 0

    def event(self, second: float, kind: str, **data: object) -> None:
        self.seq += 1
        self.shelf.insert(
            "events", run_id=self.run_id, batch_id=self.batch_id, seq=self.seq, kind=kind,
            at=NOON + timedelta(seconds=second), data=json.dumps(data),
        )  # fmt: skip

    def reply(self, second: float, *calls: str, cost_usd: float | None = 0.01, **data: object) -> None:
        self.n += 1
        self.shelf.insert(
            "entries", run_id=self.run_id, n=self.n, kind="reply", lease=1, token=new_id(), body="{}",
            at=NOON + timedelta(seconds=second), cost_usd=cost_usd, **TOKENS,
        )  # fmt: skip
        self.event(second, "model.replied", turn=self.n, **TOKENS, **data)
        for call in calls:
            self.event(second, "tool.called", call_id=call, name=call)

    def result(
        self, second: float, call: str, *, ms: int, row_at: float | None = None, **more: object
    ) -> None:
        at = NOON + timedelta(seconds=second if row_at is None else row_at)
        self.shelf.insert(
            "tool_results", run_id=self.run_id, n=self.n, call_id=call, name=call, body="x",
            ms=ms, at=at, **{"is_error": False} | more,
        )  # fmt: skip
        self.event(second, "tool.returned", call_id=call, name=call, ms=ms, is_error=False)
