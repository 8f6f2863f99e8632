import asyncio
import json
import re
from decimal import Decimal
from typing import Any

import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, text, turn

from chiron_workers.billing.budgets import Budget

DEAR = {"input_tokens": 3_000, "output_tokens": 400}


def script(request: dict[str, Any]) -> Says:
    return (
        Says((text("done"),), "end_turn", DEAR)
        if turn(request)
        else Says((call("echo", words="on"),), "tool_use", DEAR)
    )


@pytest.fixture
def batch(chiron, rows):
    """A batch of three runs, one completed and one failed: (its id, the ids of the runs)."""
    found = json.loads(chiron("submit", "A", "B", "C", "--subject", "S", "--json").stdout)
    rows(
        "update runs set state = 'completed', answer = E'It is so.\\n\\nAnd \\x1b[2Jso.', facts = 2, spent_usd = 0.5 "
        "where topic = 'A' returning 1"
    )
    rows(
        """update runs set state = 'failed', error = '{"kind": "max_turns", "message": "Too long."}'
            where topic = 'B' returning 1"""
    )
    return found["batch_id"], found["run_ids"]


def test_json_gives_one_line_for_each_run(chiron, batch):
    found = [json.loads(line) for line in chiron("results", batch[0], "--json").stdout.splitlines()]
    assert [one["id"] for one in found] == batch[1]
    assert [(one["topic"], one["state"], one["facts"], one["spent_usd"]) for one in found] == [
        ("A", "completed", 2, 0.5), ("B", "failed", 0, 0.0), ("C", "queued", 0, 0.0)
    ]  # fmt: skip
    assert found[0]["answer"].startswith("It is so.")
    assert found[1]["error"] == {"kind": "max_turns", "message": "Too long."}


def test_people_read_topic_state_cost_and_answer(chiron, batch):
    said = chiron("results", batch[0]).stdout
    assert said.startswith(
        f"#1 A\n  completed, 2 new facts, $0.5000, run {batch[1][0]}\n\n  It is so.\n\n  And so.\n\n#2 B\n"
    )
    assert "  max_turns: Too long.\n" in said


def test_a_run_alone_is_listed_too(chiron, batch):
    [line] = chiron("results", batch[1][1], "--json").stdout.splitlines()
    assert json.loads(line)["topic"] == "B"


async def test_results_of_a_paused_batch_end_with_the_one_command_that_lets_it_finish(
    stage: Stage, chiron
) -> None:
    await stage.model(script)
    run_ids = await stage.submit("tide 1", "tide 2", "tide 3", run_budget=Budget(Decimal("0.05")))
    for run_id in run_ids:
        await stage.play(run_id)
    shown, listed = [await asyncio.to_thread(chiron, command, "last") for command in ("show", "results")]
    commands = [
        re.findall(r"`(chiron resume [^`]+)` gives it that", text) for text in (shown.stdout, listed.stderr)
    ]
    assert len(commands[0]) == 1
    assert commands[0] == commands[1]
    assert "chiron resume" not in listed.stdout
    listed = await asyncio.to_thread(chiron, "results", str(run_ids[0]))
    assert listed.stderr.count(f"`chiron resume {run_ids[0]} --budget-usd ") == 1
    as_json = await asyncio.to_thread(chiron, "results", "last", "--json")
    assert as_json.stderr == ""


def test_results_name_what_helps_runs_that_paused_without_a_budget(chiron, rows, batch):
    rows(
        """update runs set state = 'paused', error = '{"kind": "model", "message": "It is away.", "remedies":
             [{"action": "resume", "noun": "batch", "target": "", "arguments": {}}]}'
            where state <> 'completed' returning 1"""
    )
    assert chiron("results", batch[0]).stderr.count(f"`chiron resume {batch[0]}`") == 1
    rows("update runs set state = 'queued', error = null returning 1")
    assert chiron("results", batch[0]).stderr == ""
