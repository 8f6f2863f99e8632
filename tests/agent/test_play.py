import asyncio
from decimal import Decimal
from typing import Any

import pytest
from support.run_harness import LEASE, Stage
from support.scripted_model import Fails, Says, call, calls, says, text, turn

from chiron_workers.batches.cost_to_finish import cost_to_finish_paused
from chiron_workers.batches.steering import resume
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import LeaseLost
from chiron_workers.runs.entries import Results, ToolCall
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import say
from chiron_workers.states import Outcome


async def test_a_run_calls_tools_until_the_model_asks_for_no_more(stage: Stage) -> None:
    script = [calls(call("note", words="one")), calls(call("echo", words="two")), says("All done.")]
    await stage.model(lambda request: script[turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["state"], row["answer"], row["turns"]) == ("completed", "All done.", 3)
    assert await stage.kinds(run_id) == [
        *("run.queued", "run.started", "model.replied", "tool.called", "node.saved", "tool.returned"),
        *(
            "model.replied",
            "tool.called",
            "tool.returned",
            "model.replied",
            "run.completed",
            "batch.completed",
        ),
    ]
    last = stage.server.requests[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user", "assistant", "user"]
    assert last[-1]["content"][0]["content"] == "two"


async def test_published_events_are_the_stored_ones(stage: Stage) -> None:
    await stage.model(lambda request: [calls(call("note", words="a")), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    stored = await stage.rows(
        "select seq, kind, data, at from events where run_id = %s and seq > 1 order by seq", run_id
    )
    published = [event for event in stage.published if event.seq]
    assert [(e.seq, e.kind, e.data, e.at) for e in published] == [
        (r["seq"], r["kind"], r["data"], r["at"]) for r in stored
    ]


async def test_tool_calls_of_one_reply_run_side_by_side(stage: Stage) -> None:
    blocks = [call("echo", words=f"w{n}") for n in range(8)]
    await stage.model(lambda request: [calls(*blocks), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    results = stage.server.requests[-1]["messages"][-1]["content"]
    assert [block["tool_use_id"] for block in results] == [block["id"] for block in blocks]
    assert [block["content"] for block in results] == [f"w{n}" for n in range(8)]


async def test_errors_of_tools_are_data_for_the_model_and_leave_nothing_behind(stage: Stage) -> None:
    blocks = (call("explode"), call("nothing_like_it"), call("echo"), call("echo", words="fine"))
    await stage.model(lambda request: [calls(*blocks), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    results = stage.server.requests[-1]["messages"][-1]["content"]
    assert [block["is_error"] for block in results] == [True, True, True, False]
    assert "the tool broke" in results[0]["content"]
    assert "nothing_like_it" in results[1]["content"]
    assert "words" in results[2]["content"]
    assert await stage.rows("select 1 from subjects where id = 'half-written'") == []


async def test_a_second_taking_repeats_no_answered_call_and_no_tool_write(stage: Stage) -> None:
    asked_last = asyncio.Event()

    async def script(request: dict[str, object]) -> Says | Fails:
        if turn(request) < 2:
            return calls(call("note", words=f"note-{turn(request)}"))
        if not asked_last.is_set():
            asked_last.set()
            await asyncio.sleep(60)
        return says("the end")

    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    first = asyncio.create_task(stage.play(run_id))
    await asyncio.wait_for(asked_last.wait(), 60)
    first.cancel()  # as a killed worker: nothing more is written
    await asyncio.gather(first, return_exceptions=True)
    await stage.rows("update runs set state = 'queued' where id = %s returning 1", run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert [turn(request) for request in stage.server.answered] == [0, 1, 2]
    assert stage.runs_of_tools == ["note-0", "note-1"]
    assert (await stage.kinds(run_id)).count("run.resumed") == 1


async def test_a_lost_lease_writes_nothing(stage: Stage) -> None:
    await stage.model(lambda request: calls(call("note", words="mine")))
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await stage.rows("update runs set lease = lease + 1 where id = %s returning 1", run_id)
    before = await stage.rows(
        "select (select count(*) from entries), (select count(*) from events), (select seq from runs)"
    )
    assert await stage.execution(run).execute() is Outcome.LEFT
    after = await stage.rows(
        "select (select count(*) from entries), (select count(*) from events), (select seq from runs)"
    )
    assert before == after


async def test_a_tool_that_finishes_after_its_lease_is_lost_is_rolled_back(stage: Stage) -> None:
    await stage.model(lambda request: says("x"))
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await stage.rows("update runs set state = 'queued' where id = %s returning 1", run_id)
    block = call("note", words="late")
    execution = stage.execution(run)
    with pytest.raises(LeaseLost):
        await execution._tools.call(run, 3, ToolCall(block["id"], "note", {"words": "late"}))
    assert await stage.rows("select 1 from subjects where id = 'late'") == []
    assert await stage.rows("select 1 from tool_results") == []


async def test_a_cut_off_reply_is_continued_and_its_calls_are_answered(stage: Stage) -> None:
    cut = Says((text("half"), call("echo", words="never")), stop="max_tokens")
    await stage.model(lambda request: [cut, says("whole")][turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    last = stage.server.requests[-1]["messages"][-1]
    assert (last["role"], [block["type"] for block in last["content"]]) == ("user", ["tool_result", "text"])
    assert last["content"][0]["is_error"]
    assert stage.runs_of_tools == []


async def test_a_paused_turn_is_sent_again_as_it_is(stage: Stage) -> None:
    paused = Says((text("searching"),), stop="pause_turn")
    await stage.model(lambda request: [paused, says("found")][turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert stage.server.requests[-1]["messages"][-1] == {"role": "assistant", "content": [text("searching")]}


@pytest.mark.parametrize(
    ("stop", "kind"),
    [
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_window"),
        ("brand_new", "stop_reason"),
    ],
)
async def test_a_stop_that_ends_the_run_says_why(stage: Stage, stop: str, kind: str) -> None:
    await stage.model(lambda request: says("no", stop=stop))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.FAILED
    row = await stage.row(run_id)
    assert (row["state"], row["error"]["kind"]) == ("failed", kind)
    assert (await stage.kinds(run_id))[-2:] == ["run.failed", "batch.completed"]


async def test_turns_are_bounded(stage: Stage) -> None:
    await stage.model(lambda request: calls(call("echo", words="again")))
    (run_id,) = await stage.submit("tides", max_turns=3)
    assert await stage.play(run_id) is Outcome.FAILED
    row = await stage.row(run_id)
    assert (row["turns"], row["error"]["kind"], len(stage.server.requests)) == (3, "max_turns", 3)


async def test_a_message_continues_a_finished_conversation(stage: Stage) -> None:
    await stage.model(lambda request: says(f"answer {turn(request)}"))
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    assert await say(stage.pool, run_id, "And why?") is not None
    assert (await stage.rows("select open_runs from batches"))[0]["open_runs"] == 1
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "answer 1"
    last = stage.server.requests[-1]["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user"]
    assert last[-1]["content"] == [text("And why?")]
    assert (await stage.kinds(run_id)).count("batch.completed") == 2


async def test_a_message_to_a_running_run_is_read_at_its_next_step(stage: Stage) -> None:
    run_ids = []

    async def script(request: dict[str, object]) -> Says | Fails:
        if turn(request) == 0:
            await say(stage.pool, run_ids[0], "Be brief.")
            return says("long")
        return says("brief")

    await stage.model(script)
    run_ids += await stage.submit("tides")
    assert await stage.play(run_ids[0]) is Outcome.PLAYED
    assert (await stage.row(run_ids[0]))["answer"] == "brief"
    assert stage.server.requests[-1]["messages"][-1]["content"] == [text("Be brief.")]


async def test_cost_and_tokens_are_stored_with_the_reply(stage: Stage) -> None:
    usage = {
        "input_tokens": 1000,
        "output_tokens": 500,
        "cache_creation_input_tokens": 100,
        "cache_read_input_tokens": 200,
    }
    await stage.model(lambda request: Says((text("x"),), usage=usage))
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    row = await stage.row(run_id)
    cost = Decimal("0.014540")  # 1000 x $4 + 100 x $5 + 200 x $0.2 + 500 x $20 per million
    assert (row["input_tokens"], row["output_tokens"], row["spent_usd"]) == (1000, 500, cost)
    assert (await stage.rows("select cost_usd from entries where kind = 'reply'"))[0]["cost_usd"] == cost
    assert (await stage.rows("select spent_usd from batches"))[0]["spent_usd"] == cost


async def test_a_run_pauses_before_the_call_that_its_budget_may_not_cover_and_goes_on_with_more(
    stage: Stage,
) -> None:
    dear = {"input_tokens": 100, "output_tokens": 10_000}  # 0.2004 USD

    def script(request: dict[str, Any]) -> Says:
        return says("done") if turn(request) == 3 else Says((call("echo", words="on"),), "tool_use", dear)

    await stage.model(script)
    (run_id,) = await stage.submit("tides", budget=Budget(Decimal("0.85")))
    assert await stage.play(run_id) is Outcome.LEFT
    row = await stage.row(run_id)
    assert (row["state"], row["turns"], row["error"]["kind"]) == ("paused", 3, "budget")
    assert (row["spent_usd"], row["reserved_usd"], row["unconfirmed_usd"]) == (Decimal("0.6012"), 0, 0)
    assert "the next call may cost" in row["error"]["message"]
    needed = await cost_to_finish_paused(stage.pool, run_id)
    assert needed is not None
    assert (needed.target, needed.budget) == (row["batch_id"], "batch")
    assert (await stage.kinds(run_id))[-2:] == ["budget.reached", "run.paused"]
    await resume(stage.pool, row["batch_id"], budget=Budget(Decimal(2)))
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(stage.server.requests) == 4, "nothing is asked again"


async def test_a_run_waits_for_the_next_day_when_the_day_has_spent_its_money(stage: Stage) -> None:
    stage.settings = stage.settings.model_copy(update={"daily_budget_usd": Decimal(5)})
    day = "insert into spending values ((now() at time zone 'utc')::date, 0, 4.99) returning day"
    await stage.rows(day)
    await stage.model(lambda _: says("never asked"))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.LEFT
    (row,) = await stage.rows("select state, attempt, ready_at > now() as waits, error from runs")
    assert (row["state"], row["attempt"], row["waits"], row["error"]) == ("queued", 1, True, None)
    assert (await stage.kinds(run_id))[-2:] == ["budget.reached", "run.handed_back"]
    assert stage.server.requests == []


@pytest.mark.parametrize(
    ("fault", "unconfirmed"),
    [
        (Fails(status=529), 0),
        (Fails(stream="drop"), 1),
        (Fails(stream="early_end"), 1),
        (Fails(stream="error"), 1),
    ],
    ids=["a refusal", "a dropped stream", "a stream that ends early", "an error in mid-stream"],
)
async def test_a_try_that_may_be_billed_is_unconfirmed_and_one_that_is_refused_costs_nothing(
    stage: Stage, fault: Fails, unconfirmed: int
) -> None:
    script = iter([fault, says("done")])
    await stage.model(lambda _: next(script))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["unconfirmed_calls"], row["unconfirmed_usd"] > 0) == (unconfirmed, bool(unconfirmed))
    assert (row["reserved_usd"], row["reserved_tokens"], row["reserved_calls"]) == (0, 0, 0)


async def test_a_bug_hands_the_run_back_and_ends_it_when_its_attempts_are_used_up(stage: Stage) -> None:
    await stage.model(lambda request: says("x"))
    (run_id,) = await stage.submit("tides")
    stage.registry.definitions = lambda *_: [{"name": object()}]  # type: ignore[method-assign,list-item]
    for attempt in range(1, stage.settings.max_attempts):
        assert await stage.play(run_id) is Outcome.LEFT
        row = await stage.row(run_id)
        assert (row["state"], row["attempt"]) == ("queued", attempt + 1)
        await stage.rows("update runs set ready_at = now() where id = %s returning 1", run_id)
    assert await stage.play(run_id) is Outcome.FAILED
    assert (await stage.row(run_id))["error"]["kind"] == "crash"


async def test_results_are_read_back_in_the_order_of_their_calls(stage: Stage) -> None:
    blocks = [call("echo", words=f"w{n}") for n in range(3)]
    await stage.model(lambda request: [calls(*blocks), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await stage.execution(run).execute()
    entries = await Journal(stage.pool, lambda event: None, lease_for=LEASE).read(run)
    (results,) = [entry for entry in entries if isinstance(entry, Results)]
    assert [result.text for result in results.results] == ["w0", "w1", "w2"]


async def test_model_prompt_and_tools_stay_what_they_were_when_the_run_was_opened(stage: Stage) -> None:
    paused = Says((text("searching"),), stop="pause_turn")
    away = Fails(status=529, headers={"retry-after": "300"})
    script = iter([paused, away, says("done")])
    await stage.model(lambda _: next(script))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.LEFT
    stage.registry.unregister("echo")  # an upgrade between two takings
    stage.settings = stage.settings.model_copy(update={"max_tokens": 1, "confidence_threshold": 0.1})
    await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.PLAYED
    frozen = [(r["model"], r["system"], r["tools"], r["max_tokens"]) for r in stage.server.requests]
    assert frozen[0] == frozen[1] == frozen[2]
    assert "echo" in [definition["name"] for definition in frozen[2][2]]
