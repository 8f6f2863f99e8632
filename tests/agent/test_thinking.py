"""What requests say of thinking and effort, what becomes of a model's thoughts, and which events tell of them."""

from dataclasses import replace
from typing import Any

import pytest
from support.run_harness import OneStep, Stage
from support.scripted_model import Says, call, calls, says, text, thinks, thought, turn
from support.small_window_model import TOKENS, counting, folds

from chiron_workers.settings import OFFLINE_MODEL
from chiron_workers.states import Effort, Outcome, ThinkingMode

ADAPTIVE = {"type": "adaptive", "display": "summarized"}


async def sent(stage: Stage, capabilities: Any = 404, **options: Any) -> dict[str, Any]:
    """The request of a run of one reply."""
    await stage.model(lambda _: says("High."), capabilities=capabilities)
    (run_id,) = await stage.submit("tides", **options)
    assert await stage.play(run_id) is Outcome.PLAYED
    [request] = stage.server.requests
    return request


@pytest.mark.parametrize(
    ("capabilities", "thinking"),
    [
        (thinks("adaptive", "between_tools"), ADAPTIVE),
        (thinks("between_tools", "disabled"), {"type": "between_tools"}),
        (thinks("enabled", "disabled"), None),
        (thinks(), None),
        (404, None),
        (500, None),
        ({}, None),
        (["thinking"], None),
        ({"thinking": {"types": "adaptive"}}, None),
        ({"thinking": {"types": {"adaptive": {"supported": "maybe"}}}}, None),
    ],
    ids=[
        "both",
        "between tools",
        "older",
        "none",
        "not known",
        "broken",
        "empty",
        "list",
        "text",
        "no boolean",
    ],
)
async def test_a_model_is_asked_for_what_it_can(
    stage: Stage, capabilities: Any, thinking: dict[str, str] | None
) -> None:
    request = await sent(stage, capabilities)
    assert request.get("thinking") == thinking
    assert "output_config" not in request
    assert stage.server.lookups == [stage.model_name]


async def test_a_model_of_another_make_is_told_nothing(stage: Stage) -> None:
    stage.model_name = OFFLINE_MODEL
    assert "thinking" not in await sent(stage, thinks("adaptive"))


@pytest.mark.parametrize(
    ("mode", "thinking"),
    [
        (ThinkingMode.ADAPTIVE, ADAPTIVE),
        (ThinkingMode.BETWEEN_TOOLS, {"type": "between_tools"}),
        (ThinkingMode.DISABLED, {"type": "disabled"}),
        (ThinkingMode.ENABLED, {"type": "enabled", "budget_tokens": 4_000, "display": "summarized"}),
    ],
)
async def test_a_mode_that_somebody_chose_is_sent_to_any_server(
    stage: Stage, mode: ThinkingMode, thinking: dict[str, Any]
) -> None:
    stage.model_name = OFFLINE_MODEL
    request = await sent(stage, thinking=mode, effort=Effort.LOW)
    assert (request["thinking"], request["output_config"]) == (thinking, {"effort": "low"})


async def test_runs_of_one_worker_ask_once_what_a_model_can(stage: Stage) -> None:
    await stage.model(lambda _: says("High."), capabilities=thinks("adaptive"))
    first, second = await stage.submit("tides", "moons")
    execution = stage.execution(await stage.claim(first))
    assert await execution.execute() is Outcome.PLAYED
    further = stage.execution(await stage.claim(second))
    further._model = replace(further._model, model=execution._model.model)
    assert await further.execute() is Outcome.PLAYED
    assert [request["thinking"] for request in stage.server.requests] == [ADAPTIVE, ADAPTIVE]
    assert stage.server.lookups == [stage.model_name]


def thinking_aloud(request: dict[str, Any]) -> Says:
    """Two calls with what was thought before each, one thought that is not shown, and an answer."""
    number = turn(request)
    if number == 2:
        return Says((thought("Enough.", "end"), text("High.")))
    blocks = thought(f"Plan {number}: \x00 🌊", f"sig/{number}=="), thought("", f"hidden{number}")
    redacted = {"type": "redacted_thinking", "data": f"opaque{number}"}
    return calls(*blocks, redacted, call("echo", words=str(number)))


async def test_thoughts_go_back_to_the_model_unchanged_also_after_a_crash_at_each_step(stage: Stage) -> None:
    replies: list[Says] = []

    def script(request: dict[str, Any]) -> Says:
        replies.append(thinking_aloud(request))
        return replies[-1]

    await stage.model(script, capabilities=thinks("adaptive"))
    (run_id,) = await stage.submit("tides", effort=Effort.HIGH)
    outcome = Outcome.LEFT
    while outcome is Outcome.LEFT:
        await stage.end_waiting()
        execution = stage.execution(await stage.claim(run_id))
        execution.__class__ = OneStep
        outcome = await execution.execute()
        stage.server.capabilities = thinks("between_tools")  # of what the run began with nothing changes
    sent_back = [
        message for message in stage.server.requests[-1]["messages"] if message["role"] == "assistant"
    ]
    assert len(sent_back) == 2
    assert [message["content"] for message in sent_back] == [list(reply.blocks) for reply in replies[:2]]
    for request in stage.server.requests:
        assert (request["thinking"], request["output_config"]) == (ADAPTIVE, {"effort": "high"})


async def test_an_epoch_keeps_its_thinking_for_the_summary_and_the_next_begins_with_it(stage: Stage) -> None:
    stage.settings = stage.settings.model_copy(update={"context_tokens": {stage.model_name: TOKENS}})

    def reply(request: dict[str, Any]) -> Says:
        if folds(request):
            return Says((thought("What matters?"), text("SUMMARY")))
        if len(stage.server.requests) > 12:
            return says("All done.")
        return calls(thought("More."), call("echo", words="x" * 5_000))

    await stage.model(counting(reply))
    (run_id,) = await stage.submit("tides", thinking=ThinkingMode.ENABLED)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["epoch"] > 1
    budgets = {request["thinking"]["budget_tokens"] for request in stage.server.requests}
    assert len(budgets) == 1
    assert max(budgets) < min(request["max_tokens"] for request in stage.server.requests)


async def test_each_thought_is_an_event_before_its_reply(stage: Stage) -> None:
    first = calls(
        thought("I look at " + "x" * 3_000), thought("it."), text("Looking."), call("echo", words="a")
    )
    script = iter([first, Says((thought(""), text("High.")))])
    await stage.model(lambda _: next(script), capabilities=thinks("adaptive"))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.kinds(run_id))[2:] == [
        "model.thought", "model.replied", "tool.called", "tool.returned", "model.replied", "run.completed",
        "batch.completed"
    ]  # fmt: skip
    [event] = await stage.rows("select data from events where kind = 'model.thought'")
    assert event["data"] == {"turn": 1, "text": ("I look at " + "x" * 3_000)[:2_000]}
    texts = [item.data["text"] for item in stage.published if item.kind == "text.delta"]
    assert "".join(texts) == "Looking.High."
    assert (await stage.row(run_id))["answer"] == "High."


async def test_an_epoch_that_a_version_before_began_goes_on_without_thinking(stage: Stage) -> None:
    """What its requests say would change in the midst of a conversation that is cached and signed."""
    script = iter([calls(call("echo", words="a")), says("High.")])
    await stage.model(lambda _: next(script), capabilities=thinks("adaptive"))
    (run_id,) = await stage.submit("tides", effort=Effort.MAX)
    for outcome in (Outcome.LEFT, Outcome.PLAYED):
        await stage.end_waiting()
        execution = stage.execution(await stage.claim(run_id))
        execution.__class__ = OneStep if outcome is Outcome.LEFT else type(execution)
        assert await execution.execute() is outcome
        await stage.rows(
            "update entries set body = (body::jsonb - 'thinking' - 'effort')::json where kind = 'opening' returning 1"
        )
    assert [request.keys() & {"thinking", "output_config"} for request in stage.server.requests] == [
        set(),
        set(),
    ]


@pytest.mark.parametrize(
    "first",
    [
        Says((thought("Hm."),), stop="max_tokens"),
        Says((thought("Hm."), text("High"), thought("or low?")), stop="max_tokens"),
        Says(
            (text("I search."), thought("Hm."), {"type": "redacted_thinking", "data": "x"}), stop="pause_turn"
        ),
        Says((thought("Hm."),), stop="pause_turn"),
        Says((thought("Hm."),)),
    ],
    ids=["cut", "cut behind words", "paused", "paused before words", "silent"],
)
async def test_a_message_of_the_model_does_not_end_with_a_thought(stage: Stage, first: Says) -> None:
    """The API refuses such a message, also one that it sent itself."""
    script = iter([first, says("High.")])
    await stage.model(lambda _: next(script), capabilities=thinks("adaptive"))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    last_types = [
        message["content"][-1]["type"]
        for message in stage.server.requests[1]["messages"]
        if message["role"] == "assistant"
    ]
    assert set(last_types) <= {"text"}
    assert len(last_types) == any(block["type"] == "text" for block in first.blocks)
