"""Runs whose model gets nowhere pause; those that get on slowly do not."""

from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client import generate_latest
from support.run_harness import OneStep, Stage
from support.scripted_model import Says, call, calls, cut_call, says, text, turn
from support.small_window_model import TOKENS, counting, folds

from chiron_workers.agent.stagnation import REPEAT_NOTE, STUCK_TURNS
from chiron_workers.batches.steering import resume
from chiron_workers.instruments import REGISTRY
from chiron_workers.runs.leases import say
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

Request = dict[str, Any]


def repeats_a_call(request: Request) -> Says:
    return Says((text(f"Once more, for the {turn(request)}th time."), call("echo", words="same")), "tool_use")


def breaks_arguments(request: Request) -> Says:
    return calls(cut_call("echo", '{"words": ' + "[" * (turn(request) + 1)))


def leaves_arguments_out(request: Request) -> Says:
    return calls(call("echo", say=f"words {turn(request)}"))


def calls_a_missing_tool(request: Request) -> Says:
    return calls(call(f"look_up_{turn(request)}", words="ice"))


def is_cut_each_time(request: Request) -> Says:
    return says(f"And so on, {turn(request)} times", stop="max_tokens")


def is_cut_in_a_call(request: Request) -> Says:
    return Says((cut_call("echo", f'{{"words": "{turn(request)}'),), "max_tokens")


WEAK_MODELS: list[tuple[Callable[[Request], Says], str]] = [
    (repeats_a_call, "echo, had the same result again"),
    (breaks_arguments, "must be an object"),
    (leaves_arguments_out, "words"),
    (calls_a_missing_tool, "There is no tool"),
    (is_cut_each_time, "max_tokens"),
    (is_cut_in_a_call, "max_tokens"),
]


@pytest.mark.parametrize(("script", "trouble"), WEAK_MODELS, ids=[each.__name__ for each, _ in WEAK_MODELS])
async def test_a_run_without_progress_pauses_and_says_what_its_last_trouble_was(
    stage: Stage, script: Callable[[Request], Says], trouble: str
) -> None:
    await stage.model(script)
    (run_id,) = await stage.submit("ice", max_turns=100)
    assert await stage.play(run_id) is Outcome.LEFT
    row = await stage.row(run_id)
    assert (row["state"], row["error"]["kind"]) == ("paused", "no_progress")
    assert trouble in row["error"]["message"]
    assert [remedy["action"] for remedy in row["error"]["remedies"]] == ["check_model", "resume", "say"]
    assert STUCK_TURNS <= row["turns"] <= STUCK_TURNS + 1
    assert row["reserved_usd"] == 0
    assert (await stage.kinds(run_id))[-1] == "run.paused"


@pytest.mark.parametrize("script", [repeats_a_call, calls_a_missing_tool, is_cut_each_time])
async def test_a_run_without_progress_counts_alike_if_it_changes_its_worker_after_each_step(
    stage: Stage, script: Callable[[Request], Says]
) -> None:
    await stage.model(script)
    in_one_go, in_steps = await stage.submit("ice", "tides", max_turns=100)
    await stage.play(in_one_go)
    while (await stage.row(in_steps))["state"] == "queued":
        execution = stage.execution(await stage.claim(in_steps))
        execution.__class__ = OneStep
        await execution.execute()
    rows = [await stage.row(run_id) for run_id in (in_one_go, in_steps)]
    assert [row["error"]["kind"] for row in rows] == ["no_progress"] * 2
    assert rows[0]["turns"] == rows[1]["turns"]
    bodies = "select body from tool_results where run_id = %s order by n"
    results = [[row["body"] for row in await stage.rows(bodies, row["id"])] for row in rows]
    assert results[0] == results[1]


async def test_slow_progress_pauses_no_run(stage: Stage) -> None:
    def script(request: Request) -> Says:
        number = turn(request)
        if number == 60:
            return says("Done.")
        # News comes in every seventh turn only.
        return calls(call("echo", words=f"news {number}" if number % 7 == 0 else "old"))

    await stage.model(script)
    (run_id,) = await stage.submit("ice", max_turns=100)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "Done."


async def test_a_tool_that_says_the_same_to_different_calls_harms_no_run(stage: Stage) -> None:
    @tool
    async def keep(store: Store, *, words: str) -> str:
        """Keep words."""
        return "saved"

    stage.registry.register(keep)
    await stage.model(
        lambda request: calls(call("keep", words=f"{n}")) if (n := turn(request)) < 30 else says("Done.")
    )
    (run_id,) = await stage.submit("ice", max_turns=100)
    assert await stage.play(run_id) is Outcome.PLAYED
    rows = await stage.rows("select distinct body from tool_results where run_id = %s", run_id)
    assert rows == [{"body": "saved"}]


async def test_the_third_result_that_is_the_same_is_its_beginning_with_a_note_and_is_kept_whole(
    stage: Stage,
) -> None:
    words = "ice " * 1_000
    await stage.model(
        lambda request: calls(call("echo", words=words)) if turn(request) < 5 else says("Done.")
    )
    (run_id,) = await stage.submit("ice")
    await stage.play(run_id)
    rows = await stage.rows("select body, whole from tool_results where run_id = %s order by n", run_id)
    assert [row["body"] == words for row in rows] == [True, True, False, False, False]
    for row in rows[2:]:
        assert row["body"].startswith(REPEAT_NOTE + "ice ice")
        assert len(row["body"]) < 1_000
        assert row["whole"] == words


async def test_a_result_that_was_cut_is_the_same_though_it_names_its_call(stage: Stage) -> None:
    stage.settings = stage.settings.model_copy(update={"tool_result_chars": 2_000})
    await stage.model(lambda request: calls(call("echo", words="ice " * 1_000)))
    (run_id,) = await stage.submit("ice")
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["error"]["kind"], row["turns"]) == ("no_progress", STUCK_TURNS + 1)


async def test_a_resumed_run_goes_on_and_counts_anew(stage: Stage) -> None:
    await stage.model(calls_a_missing_tool)
    (run_id,) = await stage.submit("ice", max_turns=100)
    await stage.play(run_id)
    before = generate_latest(REGISTRY).decode()
    for times in (2, 3):
        await resume(stage.pool, run_id)
        execution = stage.execution(await stage.claim(run_id))
        execution.__class__ = OneStep
        await execution.execute()  # killed right after the first step
        await stage.play(run_id)
        row = await stage.row(run_id)
        assert (row["state"], row["error"]["kind"]) == ("paused", "no_progress")
        assert row["turns"] == times * STUCK_TURNS
    counted = 'chiron_pauses_total{reason="no_progress"}'
    after = generate_latest(REGISTRY).decode()
    assert _value(after, counted) == _value(before, counted) + 2


def _value(exposition: str, name: str) -> float:
    return float(next(line.split()[-1] for line in exposition.splitlines() if line.startswith(name)))


async def test_a_resumed_run_whose_model_recovers_is_completed(stage: Stage) -> None:
    await stage.model(
        lambda request: calls_a_missing_tool(request) if turn(request) < STUCK_TURNS else says("Done.")
    )
    (run_id,) = await stage.submit("ice")
    await stage.play(run_id)
    assert (await stage.row(run_id))["state"] == "paused"
    await resume(stage.pool, run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "Done."


async def test_a_message_begins_the_count_of_turns_without_progress_anew(stage: Stage) -> None:
    await stage.model(calls_a_missing_tool)
    (run_id,) = await stage.submit("ice", max_turns=100)
    execution = stage.execution(await stage.claim(run_id))
    for _ in range(12):  # a step is half a turn
        if (await stage.row(run_id))["turns"] == 5:
            break
        execution.__class__ = OneStep
        await execution.execute()
        execution = stage.execution(await stage.claim(run_id))
    await say(stage.pool, run_id, "Look at the north side, too.")
    await execution.execute()
    assert (await stage.row(run_id))["turns"] == 5 + STUCK_TURNS


async def test_turns_without_progress_count_on_where_the_window_begins_anew(stage: Stage) -> None:
    settings = {"context_tokens": {stage.model_name: TOKENS}, "max_tokens": 2_000}
    stage.settings = stage.settings.model_copy(update=settings)

    def script(request: Request) -> Says:
        return says("SUMMARY") if folds(request) else says("very " * 2_400, stop="max_tokens")

    await stage.model(counting(script))
    (run_id,) = await stage.submit("ice", max_turns=100)
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert row["epoch"] > 1
    assert row["error"]["kind"] == "no_progress"
    (summaries,) = await stage.rows(
        "select count(*) as n from entries where run_id = %s and kind = 'reply' and body::text like '%%SUMMARY%%'",
        run_id,
    )
    assert row["turns"] - summaries["n"] == STUCK_TURNS
