"""Two thousand turns through a window of twenty thousand tokens."""

import gc
import re
from decimal import Decimal
from typing import Any

import psutil
import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, text
from support.small_window_model import TOKENS, counting, folds

from chiron_workers.billing.budgets import Budget
from chiron_workers.states import Outcome
from chiron_workers.tools.notes import notes

TURNS = 2_000
NOTED, ANSWERED = 3, 1_900
FACT = "The spring tide at Brest comes 04:17 after the moon."


class Marathon:
    """Plays so many turns that only its notes can tell it at the end what it found at the beginning."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.turn = 0
        self.answer = ""
        self.longest = 0
        self.resident_mb: dict[int, float] = {}

    def __call__(self, request: dict[str, Any]) -> Says:
        self.longest = max(self.longest, len(request["messages"]))
        self.stage.server.requests.clear()  # a server keeps no conversations
        self.stage.server.answered.clear()
        self.stage.server.asks.clear()
        self.stage.published.clear()
        if folds(request):
            return says("I went on as before.")
        self.turn += 1
        if self.turn % 100 == 0:
            gc.collect()
            self.resident_mb[self.turn] = psutil.Process().memory_info().rss / 2**20
        return self._said(request)

    def _said(self, request: dict[str, Any]) -> Says:
        if self.turn == TURNS:
            return says(self.answer)
        if self.turn == NOTED:
            return calls(call("notes", title="tide at Brest", text=FACT))
        if self.turn == ANSWERED:
            found = re.search(r"The spring tide at Brest comes [^.]*\.", str(request["messages"]))
            self.answer = found[0] if found else "I no longer know."
        parallel = 6 if self.turn % 50 == 0 else 1
        words = f"turn {self.turn}: " + "the moon moves on " * 50
        return calls(
            text(f"Turn {self.turn}."), *(call("echo", words=f"{words}{n}") for n in range(parallel))
        )


@pytest.mark.acceptance
async def test_a_fact_noted_at_turn_3_is_answered_at_turn_1900(stage: Stage) -> None:
    stage.settings = stage.settings.model_copy(update={"context_tokens": {stage.model_name: TOKENS}})
    stage.registry.register(notes)
    marathon = Marathon(stage)
    await stage.model(counting(marathon))
    (run_id,) = await stage.submit("tides", max_turns=2 * TURNS, run_budget=Budget(usd=Decimal(500)))
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (marathon.turn, row["answer"]) == (TURNS, FACT)
    assert row["epoch"] > 50
    assert row["turns"] == TURNS + row["epoch"] - 1
    assert marathon.longest < 100
    assert len(stage.runs_of_tools) == len(set(stage.runs_of_tools))
    assert marathon.resident_mb[1_900] - marathon.resident_mb[400] < 40
