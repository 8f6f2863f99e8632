"""`chiron show RUN --transcript`: the whole conversation, through every epoch."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, text
from support.small_window_model import TOKENS, counting, folds
from typer.testing import Result

from chiron_workers.states import Outcome


def script(request: dict[str, Any]) -> Says:
    if folds(request):
        return says("SUMMARY of what I did")
    turn = sum(message["role"] == "assistant" for message in request["messages"])
    first_words = request["messages"][0]["content"][0]["text"]
    if "SUMMARY" in first_words:
        return says("The moon \x1b[31mpulls the water.")
    return calls(text(f"I read on, {turn}."), call("echo", words=f"{turn} " + "x" * 3_000))


@pytest.fixture
async def run_id(stage: Stage) -> str:
    """A completed run of two epochs."""
    stage.settings = stage.settings.model_copy(update={"context_tokens": {stage.model_name: TOKENS}})
    await stage.model(counting(script))
    (run_id,) = await stage.submit("tides", max_turns=100)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["epoch"] == 2
    return str(run_id)


async def test_a_transcript_has_every_epoch_and_each_call_with_its_result(
    chiron: Callable[..., Result], run_id: str
) -> None:
    transcript = (await asyncio.to_thread(chiron, "show", run_id, "--transcript")).stdout
    parts = [
        "Epoch 1 begins, with claude-opus-5-5",
        "Research topic: tides",
        "I read on, 0.",
        '-> echo {"words": "0 xxx',
        "<- ",
        "Request for a summary",
        "SUMMARY of what I did",
        "Epoch 2 begins",
        "The moon pulls the water.",
    ]
    assert [transcript.index(part) for part in parts] == sorted(transcript.index(part) for part in parts)
    assert "\x1b" not in transcript
    assert max(map(len, transcript.splitlines())) < 2_000


async def test_as_json_it_is_a_line_for_each_entry_with_nothing_cut(
    chiron: Callable[..., Result], run_id: str, stage: Stage
) -> None:
    lines = (await asyncio.to_thread(chiron, "show", run_id, "--transcript", "--json")).stdout.splitlines()
    entries = [json.loads(line) for line in lines]
    rows = await stage.rows("select n, kind from entries order by n")
    assert [(entry["n"], entry["kind"]) for entry in entries] == [(row["n"], row["kind"]) for row in rows]
    results = [result for entry in entries for result in entry["results"]]
    assert {result["call_id"] for result in results} == {
        row["call_id"] for row in await stage.rows("select call_id from tool_results")
    }
    assert all(len(result["body"]) > 3_000 for result in results)


def test_a_batch_has_no_transcript_and_a_waiting_run_an_empty_one(chiron: Callable[..., Result]) -> None:
    receipt = json.loads(chiron("submit", "tides", "--subject", "Physics", "--json").stdout)
    refused = chiron("show", receipt["batch_id"], "--transcript")
    assert (refused.exit_code, "is a batch" in refused.stderr) == (2, True)
    assert "nobody has said anything yet" in chiron("show", receipt["run_ids"][0], "--transcript").stdout
