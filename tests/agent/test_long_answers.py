"""A reply that is cut and continued is one answer."""

from typing import Any

import pytest
from support.run_harness import OneStep, Stage
from support.scripted_model import Fails, Says, call, calls, says, text, turn
from support.small_window_model import TOKENS, counting, folds

from chiron_workers.agent.stagnation import STUCK_TURNS
from chiron_workers.runs.leases import say
from chiron_workers.states import Outcome

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tides"}}
TOO_LONG = Fails(
    status=400,
    type="invalid_request_error",
    message=f"prompt is too long: 30000 tokens > {TOKENS} maximum",
)


async def answer_to(stage: Stage, *replies: Says | Fails) -> str:
    """What a run answers whose model gives these replies, and no more are asked of it."""
    script = iter(replies)
    await stage.model(lambda _: next(script))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(stage.server.requests) == len(replies)
    (event,) = await stage.rows("select data from events where kind = 'run.completed'")
    answer = (await stage.row(run_id))["answer"]
    assert event["data"]["answer"] == answer
    return str(answer)


@pytest.mark.parametrize(
    ("replies", "answer"),
    [
        ((says("The tid", stop="max_tokens"), says("es are high.")), "The tides are high."),
        (
            (says("One, ", stop="max_tokens"), says("two, ", stop="max_tokens"), says("three.")),
            "One, two, three.",
        ),
        (
            (Says((text("I search."), SEARCH), stop="pause_turn"), says("The answer.")),
            "I search.\n\nThe answer.",
        ),
        ((says("First", "sec", stop="max_tokens"), says("ond", "third")), "First\n\nsecond\n\nthird"),
        ((says("The answer", stop="max_tokens"), Says(())), "The answer"),
        ((Says((), stop="max_tokens"), says("The answer")), "The answer"),
        (
            (Says((text("I look."), call("echo", words="never")), stop="max_tokens"), says("So.")),
            "I look.\n\nSo.",
        ),
        ((Says((text("a "),), stop="pause_turn"), says("b", stop="max_tokens"), says("c")), "a \n\nbc"),
    ],
    ids=["in a word", "twice", "paused", "blocks", "nothing more", "nothing yet", "in a call", "both"],
)
async def test_a_cut_reply_and_what_continues_it_are_one_answer(
    stage: Stage, replies: tuple[Says, ...], answer: str
) -> None:
    assert await answer_to(stage, *replies) == answer


async def test_words_before_a_tool_call_are_no_part_of_the_answer(stage: Stage) -> None:
    look = calls(text("what it shows."), call("echo", words="a"))
    assert await answer_to(stage, says("Let me see ", stop="max_tokens"), look, says("High.")) == "High."


async def test_a_whole_reply_is_no_part_of_the_answer_to_a_later_message(stage: Stage) -> None:
    await stage.model(
        lambda request: [says("High."), says("The mo", stop="max_tokens"), says("on.")][turn(request)]
    )
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    await say(stage.pool, run_id, "Why?")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "The moon."


async def test_an_answer_keeps_its_beginning_through_a_crash_at_each_step(stage: Stage) -> None:
    script = iter([says("One, ", stop="max_tokens"), says("two, ", stop="max_tokens"), says("three.")])
    await stage.model(lambda _: next(script))
    (run_id,) = await stage.submit("tides")
    outcome = Outcome.LEFT
    while outcome is Outcome.LEFT:
        await stage.end_waiting()
        execution = stage.execution(await stage.claim(run_id))
        execution.__class__ = OneStep
        outcome = await execution.execute()
    assert (await stage.row(run_id))["answer"] == "One, two, three."


@pytest.fixture
def small(stage: Stage) -> Stage:
    """A stage whose model has a window of 20,000 tokens."""
    stage.settings = stage.settings.model_copy(update={"context_tokens": {stage.model_name: TOKENS}})
    return stage


async def test_an_answer_goes_on_after_the_window_was_full_in_the_middle_of_it(small: Stage) -> None:
    answer = await answer_to(
        small,
        says("One, ", stop="max_tokens"),
        TOO_LONG,
        says("SUMMARY"),
        says("two, ", stop="max_tokens"),
        says("three."),
    )
    assert answer == "One, two, three."
    question = small.server.requests[3]["messages"][0]["content"][0]["text"]
    assert "put right behind these, its last ones:\n\nOne, \n\n" in question


async def test_an_unfinished_answer_outlives_a_crash_in_the_epoch_after_it(small: Stage) -> None:
    script = iter(
        [
            says("One, ", stop="max_tokens"),
            TOO_LONG,
            says("SUMMARY"),
            says("two, ", stop="max_tokens"),
            Fails(status=529, headers={"retry-after": "300"}),
            says("three."),
        ]
    )
    await small.model(lambda _: next(script))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.LEFT
    await small.end_waiting()
    assert await small.play(run_id) is Outcome.PLAYED
    assert (await small.row(run_id))["answer"] == "One, two, three."


async def test_a_paused_turn_that_goes_with_the_window_is_no_part_of_the_answer(small: Stage) -> None:
    paused = Says((text("I search."), SEARCH), stop="pause_turn")
    answer = await answer_to(small, paused, paused, TOO_LONG, says("SUMMARY"), says("High."))
    assert answer == "High."


async def test_a_reply_longer_than_the_window_is_one_answer(small: Stage) -> None:
    parts = [f"part {n} " + "x" * 12_000 for n in range(STUCK_TURNS)]
    written = iter(parts)

    def script(request: dict[str, Any]) -> Says | Fails:
        if folds(request):
            return says("SUMMARY")
        part = next(written)
        return says(part, stop="end_turn" if part == parts[-1] else "max_tokens")

    await small.model(counting(script))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    assert (await small.row(run_id))["answer"] == "".join(parts)
    assert (await small.row(run_id))["epoch"] > 1
