"""Replies that end a run without an answer are asked for once more; calls are run whatever the stop reason says."""

from typing import Any

import pytest
from support.run_harness import Stage
from support.scripted_model import Block, Says, call, calls, cut_call, says, text, thought

from benchmarks.crashes.consistency import among_rows, snapshot
from chiron_workers.agent.reminders import EMPTY, NO_CALLS, WRITTEN_CALL
from chiron_workers.agent.written_calls import is_written_call
from chiron_workers.batches.steering import retry
from chiron_workers.runs.leases import say
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

EMPTY_REPLIES: dict[str, tuple[Block, ...]] = {
    "nothing": (),
    "only thinking": (thought("I could look it up."),),
    "only blanks": (text(" \n\t"),),
    "an empty text": (text(""),),
    "thinking and blanks": (thought("Well."), text("\n")),
}
WRITTEN_CALLS = [
    '{"name": "echo", "arguments": {"words": "ice"}}',
    '```json\n{"name": "echo", "parameters": {"words": "ice"}}\n```',
    '[{"type": "function", "function": {"name": "echo", "arguments": "{}"}}]',
    '{"tool_calls": [{"name": "echo", "input": {"words": "ice"}}]}',
    '<tool_call>\n{"name": "echo", "arguments": {"words": "ice"}}\n</tool_call>',
    '<|python_tag|>{"name": "echo", "parameters": {"words": "ice"}}<|eom_id|>',
    '[TOOL_CALLS][{"name": "echo", "arguments": {"words": "ice"}}]',
    '[TOOL_CALLS]echo{"words": "ice"}',
    '<function=echo>{"words": "ice"}</function>',
    "<tool_call>\n<function=echo>\n<parameter=words>\nice\n</parameter>\n</function>\n</tool_call>",
    '<function_calls>\n<invoke name="echo">\n<parameter name="words">ice</parameter>\n</invoke>\n</function_calls>',
    "<tool_call>echo\n<arg_key>words</arg_key>\n<arg_value>ice</arg_value>\n</tool_call>",
    "<tool_use>\n<name>echo</name>\n<arguments>{}</arguments>\n</tool_use>",
    "<echo><words>ice</words></echo>",
    '```tool_code\nprint(default_api.echo(words="ice"))\n```',
    'echo(words="ice")',
    'Action: echo\nAction Input: {"words": "ice"}',
]
ANSWERS = [
    "Ice is cold.",
    '{"name": "Berlin", "arguments": {"country": "Germany"}}',
    '{"name": "echo", "population": 12}',
    'Call it like this: {"name": "echo", "arguments": {"words": "ice"}}',
    "<p>echo</p>",
    "echo",
    '["echo"]',
    "{}",
    "42",
    "f(x)",
]


@pytest.mark.parametrize("words", WRITTEN_CALLS)
def test_is_written_call_sees_calls_in_the_formats_of_templates(words: str) -> None:
    assert is_written_call(words, {"echo", "note"})
    assert not is_written_call(words, {"note"})


@pytest.mark.parametrize("words", ANSWERS)
def test_is_written_call_leaves_answers_alone(words: str) -> None:
    assert not is_written_call(words, {"echo", "note"})


def script_of(stage: Stage, *replies: Says) -> Any:
    return lambda _: replies[min(len(stage.server.requests), len(replies)) - 1]


@pytest.mark.parametrize(
    "first",
    [
        *(Says(blocks) for blocks in EMPTY_REPLIES.values()),
        Says((), "tool_use"),
        Says((text("I look it up."),), "tool_use"),
        *(says(words) for words in WRITTEN_CALLS[:2]),
    ],
)
async def test_a_reply_without_an_answer_is_asked_for_once_more_and_then_fails_the_run(
    stage: Stage, first: Says
) -> None:
    is_written = first.stop == "end_turn" and any(block.get("text", "").strip() for block in first.blocks)
    await stage.model(script_of(stage, calls(call("echo", words="a")), first))
    (run_id,) = await stage.submit("ice")
    assert await stage.play(run_id) is Outcome.FAILED
    row = await stage.row(run_id)
    assert (row["error"]["kind"], row["turns"], row["answer"]) == ("empty_reply", 3, None)
    assert "check_model" in [remedy["action"] for remedy in row["error"]["remedies"]]
    last = stage.server.requests[-1]["messages"][-1]
    assert last["role"] == "user"
    assert last["content"][-1]["text"] == (WRITTEN_CALL if is_written else EMPTY)


async def test_an_answer_after_an_empty_reply_completes_the_run(stage: Stage) -> None:
    await stage.model(script_of(stage, calls(call("echo", words="a")), says(), says("Cold.")))
    (run_id,) = await stage.submit("ice")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "Cold."


async def test_the_end_of_a_cut_answer_may_be_empty(stage: Stage) -> None:
    await stage.model(script_of(stage, says("Cold.", stop="max_tokens"), says()))
    (run_id,) = await stage.submit("ice")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "Cold."


async def test_a_run_that_failed_with_an_empty_reply_is_asked_once_more_by_a_retry(stage: Stage) -> None:
    await stage.model(script_of(stage, says(), says(), says("Cold.")))
    (run_id,) = await stage.submit("ice")
    assert await stage.play(run_id) is Outcome.FAILED
    await retry(stage.pool, run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "Cold."


@pytest.mark.parametrize("stop", ["end_turn", "stop_sequence", "pause_turn", "tool_calls", None])
async def test_calls_are_run_whatever_the_stop_reason_says(
    stage: Stage, database_url: str, stop: str | None
) -> None:
    reply = Says((text("I look."), call("note", words="ice")), stop)  # type: ignore[arg-type]
    await stage.model(script_of(stage, reply, says("Done.")))
    (run_id,) = await stage.submit("ice")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert stage.runs_of_tools == ["ice"]
    assert stage.server.requests[-1]["messages"][-1]["content"][0]["type"] == "tool_result"
    with snapshot(database_url) as connection:
        assert not list(among_rows(connection))


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded", "refusal"])
async def test_calls_of_a_reply_that_was_cut_off_are_not_run(
    stage: Stage, database_url: str, stop: str
) -> None:
    await stage.model(script_of(stage, Says((cut_call("note", '{"words": "ic'),), stop), says("Done.")))
    (run_id,) = await stage.submit("ice")
    await stage.play(run_id)
    assert stage.runs_of_tools == []
    with snapshot(database_url) as connection:
        assert not list(among_rows(connection))


@tool
async def store_knowledge(store: Store, *, statement: str) -> str:
    """Store a fact."""
    return f"stored {statement}"


async def test_research_that_never_called_a_tool_is_reminded_once_and_then_fails(stage: Stage) -> None:
    stage.registry.register(store_knowledge)
    await stage.model(lambda _: says("Ice is cold, I know that."))
    (run_id,) = await stage.submit("ice")
    assert await stage.play(run_id) is Outcome.FAILED
    row = await stage.row(run_id)
    assert (row["error"]["kind"], row["turns"]) == ("no_tool_calls", 2)
    assert "option jinja" in row["error"]["message"]
    assert stage.server.requests[-1]["messages"][-1]["content"][-1]["text"] == NO_CALLS
    await say(stage.pool, run_id, "Then tell me what you know.")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "Ice is cold, I know that."


async def test_research_that_calls_a_tool_after_the_reminder_is_completed_and_answers_messages(
    stage: Stage,
) -> None:
    stage.registry.register(store_knowledge)
    replies = says("Cold."), calls(call("store_knowledge", statement="Cold.")), says("Stored."), says("Yes.")
    await stage.model(script_of(stage, *replies))
    (run_id,) = await stage.submit("ice")
    assert await stage.play(run_id) is Outcome.PLAYED
    await say(stage.pool, run_id, "Are you sure?")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "Yes."
