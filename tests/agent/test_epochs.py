"""What happens when a run's conversation no longer fits the model's context window."""

import json
from typing import Any

import pytest
from support.run_harness import OneStep, Stage
from support.scripted_model import Fails, Says, call, calls, says, text
from support.small_window_model import TOKENS, counting, folds, tokens_of

from chiron_workers.runs.leases import say
from chiron_workers.states import Outcome
from chiron_workers.toolkit import tool
from chiron_workers.tools.notes import notes


@pytest.fixture
def small(stage: Stage) -> Stage:
    """A stage whose model has a window of 20,000 tokens."""
    stage.settings = stage.settings.model_copy(update={"context_tokens": {stage.model_name: TOKENS}})
    stage.registry.register(notes)
    return stage


class Worker:
    """A model that calls a tool with so many characters each turn, and then answers."""

    def __init__(self, *, turns: int, chars: int = 3_000, summary: Says | Fails | None = None) -> None:
        self.turns, self.chars = turns, chars
        self.summary = summary or says("SUMMARY of what I did")
        self.turn = 0
        self.foldings = 0

    def __call__(self, request: dict[str, Any]) -> Says | Fails:
        if folds(request):
            self.foldings += 1
            return self.summary
        self.turn += 1
        if self.turn >= self.turns:
            return says("All done.")
        return calls(text(f"turn {self.turn}"), call("echo", words=f"{self.turn} " + "x" * self.chars))


def first_words(request: dict[str, Any]) -> str:
    return str(request["messages"][0]["content"][0]["text"])


async def epochs_of(stage: Stage) -> list[tuple[int, str]]:
    rows = await stage.rows("select epoch, kind from entries order by n")
    return [(row["epoch"], row["kind"]) for row in rows]


async def test_a_full_window_is_folded_into_a_summary_and_the_run_goes_on(small: Stage) -> None:
    worker = Worker(turns=30)
    await small.model(counting(worker))
    (run_id,) = await small.submit("tides", max_turns=100)
    assert await small.play(run_id) is Outcome.PLAYED
    row = await small.row(run_id)
    assert (row["answer"], row["epoch"]) == ("All done.", worker.foldings + 1)
    assert worker.foldings >= 3
    assert len(small.server.requests) == len(small.server.answered) == row["turns"]
    last = first_words(small.server.requests[-1])
    assert last.startswith("Research topic: tides")
    assert "SUMMARY of what I did" in last
    by_epoch = await epochs_of(small)
    assert [kind for epoch, kind in by_epoch if epoch == 2][:3] == ["opening", "question", "reply"]
    assert [kind for epoch, kind in by_epoch if epoch == 1][-2:] == ["folding", "reply"]


async def test_a_summary_reads_the_cache_since_nothing_before_it_changes(small: Stage) -> None:
    await small.model(counting(Worker(turns=12)))
    (run_id,) = await small.submit("tides")
    await small.play(run_id)
    place = next(n for n, request in enumerate(small.server.requests) if folds(request))
    before, folding = small.server.requests[place - 1], small.server.requests[place]
    unmarked = [
        json.loads(json.dumps(found["messages"]).replace(', "cache_control": {"type": "ephemeral"}', ""))
        for found in (before, folding)
    ]
    assert unmarked[1][: len(unmarked[0])] == unmarked[0]
    assert folding["tools"] == before["tools"]
    assert "tool_choice" not in folding


async def test_a_summary_is_paid_for_and_told_like_any_reply(small: Stage) -> None:
    await small.model(counting(Worker(turns=12)))
    (run_id,) = await small.submit("tides")
    await small.play(run_id)
    spent = (await small.row(run_id))["spent_usd"]
    replies = await small.rows("select count(*) as n, sum(cost_usd) as usd from entries where kind = 'reply'")
    assert replies == [{"n": len(small.server.answered), "usd": spent}]
    told = await small.rows(
        "select data from events where kind = 'model.replied' and data->>'folds' = 'true'"
    )
    assert [row["data"]["text"] for row in told] == ["SUMMARY of what I did"] * len(told)
    assert told


@pytest.mark.parametrize(
    "summary",
    [
        calls(call("echo", words="no summary")),
        says("", stop="refusal"),
        Says((), stop="end_turn"),
        says("", stop="max_tokens"),
        says("", stop="pause_turn"),
    ],
    ids=["a call", "a refusal", "nothing", "cut off", "paused"],
)
async def test_without_a_summary_the_last_words_stand_in_for_it(small: Stage, summary: Says) -> None:
    await small.model(counting(Worker(turns=12, summary=summary)))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    assert "no summary" not in small.runs_of_tools
    last = first_words(small.server.requests[-1])
    assert "There is no summary" in last
    assert "turn 8" in last


async def test_a_worker_lost_at_any_point_of_folding_repeats_nothing_that_was_answered(small: Stage) -> None:
    worker = Worker(turns=12)
    await small.model(counting(worker))
    (run_id,) = await small.submit("tides")
    takings = 0
    while (await small.row(run_id))["state"] == "queued":
        execution = small.execution(await small.claim(run_id))
        execution.__class__ = OneStep
        await execution.execute()
        takings += 1
    row = await small.row(run_id)
    assert (row["answer"], worker.turn) == ("All done.", 12)
    assert worker.foldings == row["epoch"] - 1 >= 1
    assert len(small.server.requests) == len(small.server.answered) == row["turns"]
    assert len(small.runs_of_tools) == len(set(small.runs_of_tools)) == 11
    assert takings > 2 * row["turns"]


async def test_messages_that_are_not_answered_yet_are_carried_over_word_for_word(small: Stage) -> None:
    run_ids = []
    worker = Worker(turns=12)
    message = "Mind the " + "moon " * 5_000  # with which the window is full

    async def script(request: dict[str, Any]) -> Says | Fails:
        if worker.turn == 3:
            await say(small.pool, run_ids[0], message)
        return counting(worker)(request)

    await small.model(script)
    run_ids += await small.submit("tides")
    assert await small.play(run_ids[0]) is Outcome.PLAYED
    anew = next(found for found in small.server.requests if "SUMMARY" in first_words(found))
    assert message in first_words(anew)


async def test_results_that_are_too_large_for_the_summary_are_shortened_and_nothing_else(
    small: Stage,
) -> None:
    def script(request: dict[str, Any]) -> Says | Fails:
        if folds(request):
            return says("SUMMARY")
        if "SUMMARY" in first_words(request):
            return says("All done.")
        return calls(text("long " * 4_000), *(call("echo", words="y" * 4_000) for _ in range(6)))

    await small.model(counting(script, most=16_000))
    small.settings = small.settings.model_copy(update={"context_tokens": {small.model_name: 16_000}})
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    folding = next(found for found in small.server.answered if folds(found))
    *results, _ = folding["messages"][-1]["content"]
    assert any("Shortened" in block["content"] for block in results)
    assert folding["messages"][-2]["content"][0]["text"] == "long " * 4_000


async def test_a_window_that_is_smaller_than_was_thought_is_learnt_from_the_server(stage: Stage) -> None:
    worker = Worker(turns=30, chars=6_000)
    await stage.model(counting(worker, most=40_000))
    stage.settings = stage.settings.model_copy(update={"context_tokens": {stage.model_name: 60_000}})
    (run_id,) = await stage.submit("tides", max_turns=100)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert worker.foldings >= 2
    refused = len(stage.server.requests) - len(stage.server.answered)
    assert 1 <= refused <= 2


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 20000 tokens. However, you requested 30000 tokens.",
        "the request exceeds the available context size, try increasing it",
    ],
)
async def test_other_servers_that_refuse_a_long_request_lead_to_a_summary_too(
    stage: Stage, words: str
) -> None:
    worker = Worker(turns=20, chars=6_000)

    def script(request: dict[str, Any]) -> Says | Fails:
        if tokens_of(request) > TOKENS:
            return Fails(status=400, type="invalid_request_error", message=words)
        said = worker(request)
        return Says(said.blocks, said.stop, usage={"input_tokens": 0, "output_tokens": 0})

    await stage.model(script)
    (run_id,) = await stage.submit("tides", max_turns=100)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert worker.foldings >= 2


async def test_a_reply_that_fills_the_window_is_left_out_of_the_summary(small: Stage) -> None:
    worker = Worker(turns=8)

    def script(request: dict[str, Any]) -> Says | Fails:
        if not folds(request) and worker.turn == 2 and worker.foldings == 0:
            worker.turn += 1
            return Says((text("half a"), call("echo", words="never")), stop="model_context_window_exceeded")
        return worker(request)

    await small.model(script)
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    folding = next(found for found in small.server.requests if folds(found))
    assert "half a" not in json.dumps(folding["messages"])
    assert "never" not in small.runs_of_tools


async def test_a_paused_turn_that_no_longer_fits_is_folded_without_it(small: Stage) -> None:
    script = iter(
        [
            calls(call("echo", words="one")),
            says("searching", stop="pause_turn"),
            Fails(
                status=400,
                type="invalid_request_error",
                message="prompt is too long: 30000 tokens > 20000 maximum",
            ),
            says("SUMMARY"),
            says("All done."),
        ]
    )
    await small.model(lambda _: next(script))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    folding = small.server.requests[3]
    assert folds(folding)
    assert [block["type"] for block in folding["messages"][-1]["content"]] == ["tool_result", "text"]


async def test_a_request_that_never_fits_fails_the_run_and_says_why(small: Stage) -> None:
    await small.model(counting(Worker(turns=9), most=100))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.FAILED
    error = (await small.row(run_id))["error"]
    assert error["kind"] == "context_window"
    assert "100 maximum" in error["message"]


async def test_a_summary_that_never_fits_is_done_without(small: Stage) -> None:
    worker = Worker(turns=12)

    def script(request: dict[str, Any]) -> Says | Fails:
        if folds(request):
            return Fails(
                status=400,
                type="invalid_request_error",
                message="prompt is too long: 30000 tokens > 20000 maximum",
            )
        return counting(worker)(request)

    await small.model(script)
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    assert sum(folds(request) for request in small.server.requests) >= 2
    assert "There is no summary" in first_words(small.server.requests[-1])


async def test_an_epoch_has_room_for_replies_that_suit_its_window(small: Stage) -> None:
    await small.model(counting(Worker(turns=2)))
    (run_id,) = await small.submit("tides")
    await small.play(run_id)
    assert small.server.requests[0]["max_tokens"] == TOKENS // 4


async def test_a_reply_that_was_cut_off_is_folded_with_its_calls_answered(small: Stage) -> None:
    cut = Says((text("long " * 5_000), call("echo", words="never")), stop="max_tokens")
    worker = Worker(turns=5)

    def script(request: dict[str, Any]) -> Says | Fails:
        if worker.turn == 2 and not worker.foldings and not folds(request):
            return cut
        return worker(request)

    await small.model(counting(script))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    folding = next(found for found in small.server.requests if folds(found))
    assert [block["type"] for block in folding["messages"][-1]["content"]] == ["tool_result", "text", "text"]
    assert "never" not in small.runs_of_tools


async def test_a_finished_conversation_that_is_full_goes_on_with_a_summary_of_it(small: Stage) -> None:
    worker = Worker(turns=4)
    await small.model(counting(worker))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    question = "And the moon? " * 2_000
    await say(small.pool, run_id, question)
    assert await small.play(run_id) is Outcome.PLAYED
    assert worker.foldings == 1
    assert question.strip() in first_words(small.server.requests[-1])


async def test_a_tool_that_comes_in_mid_run_is_offered_to_the_next_run_only(small: Stage) -> None:
    worker = Worker(turns=12)

    def script(request: dict[str, Any]) -> Says | Fails:
        if worker.turn == 2:
            small.registry.register(latecomer, allow_replace=True)
        return worker(request)

    await small.model(counting(script))
    first, second = await small.submit("tides", "moons", max_turns=100)
    await small.play(first)
    assert worker.foldings, "the run has more than one epoch"
    offered = [[one["name"] for one in request["tools"]] for request in small.server.requests]
    assert {tuple(names) for names in offered} == {tuple(offered[0])}
    assert "latecomer" not in offered[0]
    await small.play(second)
    assert "latecomer" in [one["name"] for one in small.server.requests[-1]["tools"]]


@tool
async def latecomer() -> str:
    """Come late."""
    return "here"
