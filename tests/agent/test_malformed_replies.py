"""Replies that are complete, and so are paid for, and that no server should send."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from support import scripted_model
from support.run_harness import Stage
from support.scripted_model import Block, Says, call, calls, cut_call, says, text, turn

from chiron_workers.batches.steering import retry
from chiron_workers.billing.budgets import Budget
from chiron_workers.runs.entries import INVALID_JSON
from chiron_workers.runs.leases import say
from chiron_workers.states import Outcome

HALF = '{"words": "half a sent'
Events = list[dict[str, Any]]
Edit = Callable[[Events], None]


def send_edited(monkeypatch: pytest.MonkeyPatch, edit: Edit) -> None:
    """Change the events of the first reply on their way."""
    whole, edits = scripted_model._events, [edit]

    def edited(reply: Says, model: str) -> Events:
        events = whole(reply, model)
        if edits:
            edits.pop()(events)
        return events

    monkeypatch.setattr(scripted_model, "_events", edited)


def change_block(**fields: Any) -> Edit:
    def edit(events: Events) -> None:
        block = next(event for event in events if event["type"] == "content_block_start")["content_block"]
        for name, value in fields.items():
            block.pop(name, None)
            if value is not None:
                block[name] = value

    return edit


def change_message(**fields: Any) -> Edit:
    return lambda events: events[0]["message"].update(fields)


def change_end(**fields: Any) -> Edit:
    return lambda events: events[-2].update(fields)


def drop_call_and_stop(events: Events) -> None:
    change_end(delta={})(events)
    del events[1:4]


MALFORMED: dict[str, tuple[Edit, str]] = {
    "a call without id": (change_block(id=None), "has no id"),
    "a call with a number as its id": (change_block(id=5), "has no id"),
    "a call whose id cannot be kept": (change_block(id="a\x00b"), "cannot be kept"),
    "a call without name": (change_block(name=None), "has no name"),
    "a block without type": (change_block(type=None), "has no type"),
    "a block that is none": (lambda events: events[1].update(content_block=None), "makes no sense|no type"),
    "content that is no list": (change_message(content={"a": 1}), "content is no list"),
    "a message that is none": (lambda events: events[0].update(message=None), "makes no sense"),
    "a model that is no string": (change_message(model=["m"]), "its model is"),
    "a stop reason that is no string": (change_end(delta={"stop_reason": 7}), "its stop reason is 7"),
    "no stop reason and no call": (drop_call_and_stop, "no stop reason"),
}


@pytest.mark.parametrize(("edit", "problem"), MALFORMED.values(), ids=MALFORMED)
async def test_a_malformed_reply_is_paid_for_and_ends_the_run_with_a_sentence(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, edit: Edit, problem: str
) -> None:
    send_edited(monkeypatch, edit)
    await stage.model(lambda _: calls(call("echo", words="a")))
    (run_id,) = await stage.submit("tides", budget=Budget(Decimal(5)))
    assert await stage.play(run_id) is Outcome.FAILED
    row = await stage.row(run_id)
    assert row["error"]["kind"] == "malformed_reply"
    assert any(words in row["error"]["message"] for words in problem.split("|")), row["error"]["message"]
    assert (len(stage.server.requests), row["turns"], stage.runs_of_tools) == (1, 1, [])
    [entry] = await stage.rows("select body, cost_usd from entries where kind = 'reply'")
    assert entry["body"]["problem"] in row["error"]["message"]
    assert row["spent_usd"] == entry["cost_usd"]
    assert (row["reserved_usd"], row["reserved_calls"], row["unconfirmed_calls"]) == (0, 0, 0)
    assert 0 <= row["spent_usd"] <= 5


async def test_a_malformed_reply_is_asked_for_again_only_by_who_retries(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_edited(monkeypatch, change_block(id=None))
    await stage.model(
        lambda _: says("mended") if len(stage.server.requests) > 1 else calls(call("echo", words="a"))
    )
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.FAILED
    await stage.rows("update batches set open_runs = 1, finished_at = null returning 1")
    await stage.rows("update runs set state = 'queued', finished_at = null where id = %s returning 1", run_id)
    assert await stage.play(run_id) is Outcome.FAILED, "as after a crash before the run was released"
    assert len(stage.server.requests) == 1
    await retry(stage.pool, run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "mended"
    first, second = (request["messages"] for request in stage.server.requests)
    assert first == second, "the malformed reply is no part of the conversation"


async def test_a_message_goes_on_after_a_malformed_reply(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_edited(monkeypatch, change_block(type=None))
    await stage.model(lambda _: says("well"))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.FAILED
    await say(stage.pool, run_id, "And now?")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert stage.server.requests[-1]["messages"][-1]["content"][-1]["text"] == "And now?"


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
async def test_a_reply_cut_within_a_call_is_paid_for_once_and_goes_on_as_any_cut(
    stage: Stage, stop: str
) -> None:
    cut = Says((text("half"), cut_call("echo", HALF)), stop=stop)
    await stage.model(lambda _: says("whole") if len(stage.server.requests) > 1 else cut)
    (run_id,) = await stage.submit("tides")
    ended = {"max_tokens": Outcome.PLAYED, "refusal": Outcome.FAILED}
    assert await stage.play(run_id) is ended[stop]
    assert len(stage.server.requests) == 1 + (stop == "max_tokens")
    row = await stage.row(run_id)
    assert (row["unconfirmed_calls"], row["turns"]) == (0, len(stage.server.requests))
    if stop == "max_tokens":
        _, assistant, user = stage.server.requests[-1]["messages"]
        assert assistant["content"][1]["input"] == {INVALID_JSON: HALF}
        result = user["content"][0]
        assert (result["tool_use_id"], result["is_error"]) == (assistant["content"][1]["id"], True)
        assert "was cut off" in result["content"]
    assert stage.runs_of_tools == []


@pytest.mark.parametrize("stop", ["tool_use", "end_turn"])
@pytest.mark.parametrize(
    ("written", "fault"),
    [('{"words": oops}', "no JSON: Expecting value"), ('["one"]', "list instead"), ("7", "int instead")],
)
async def test_arguments_that_are_no_object_are_answered_with_what_is_wrong(
    stage: Stage, written: str, fault: str, stop: str
) -> None:
    script = [Says((cut_call("echo", written), call("echo", words="fine")), stop), says("mended")]
    await stage.model(lambda request: script[turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(stage.server.requests) == 2
    _, assistant, user = stage.server.requests[-1]["messages"]
    assert all(isinstance(block["input"], dict) for block in assistant["content"])
    assert [block["is_error"] for block in user["content"]] == [True, False]
    assert fault in user["content"][0]["content"]


async def test_calls_of_one_reply_with_the_same_id_are_run_each(stage: Stage) -> None:
    same: list[Block] = [{**call("echo", words=words), "id": "call_0"} for words in ("one", "two", "three")]
    await stage.model(lambda request: [calls(*same), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert sorted(stage.runs_of_tools) == ["one", "three", "two"]
    _, assistant, user = stage.server.requests[-1]["messages"]
    ids = [block["id"] for block in assistant["content"]]
    assert len(set(ids)) == 3
    assert [block["tool_use_id"] for block in user["content"]] == ids
    assert [block["content"] for block in user["content"]] == ["one", "two", "three"]


async def test_a_thought_that_was_cut_is_not_sent_back_without_its_signature(stage: Stage) -> None:
    cut = Says(({"type": "thinking", "thinking": "Hm", "signature": ""},), stop="max_tokens")
    await stage.model(lambda _: says("whole") if len(stage.server.requests) > 1 else cut)
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert [message["role"] for message in stage.server.requests[-1]["messages"]] == ["user"]


async def test_a_reply_that_postgres_refuses_is_paid_for_without_its_words(stage: Stage) -> None:
    async with stage.pool.connection() as connection:
        await connection.execute(
            "create function refuse_long() returns trigger language plpgsql as $$ begin"
            " if length(new.body::text) > 40000 then raise exception using errcode = '22023'; end if; return new; end $$"
        )
        await connection.execute(
            "create trigger refuse_long before insert on entries for each row execute function refuse_long()"
        )
    await stage.model(lambda _: says("x" * 50_000))
    (run_id,) = await stage.submit("tides")
    execution = stage.execution(await stage.claim(run_id))
    assert await execution.execute() is Outcome.FAILED
    assert execution._journal.lost_replies == 0
    row = await stage.row(run_id)
    assert (row["error"]["kind"], row["turns"], len(stage.server.requests)) == ("malformed_reply", 1, 1)
    assert row["spent_usd"] > 0
