"""Where the time of a run went, from its events, entries and results."""

import pytest
from support.research_rows import NOON, Shelf
from support.timed_runs import TimedRun

from chiron_workers.db.connect import Pool
from chiron_workers.runs.timeline import load_timeline


async def test_timeline_tells_the_model_from_tools_and_each_kind_of_waiting(pool: Pool, shelf: Shelf):
    timed_run = TimedRun(shelf)
    timed_run.event(0, "run.queued")
    timed_run.event(10, "run.started")
    timed_run.reply(14, "web_search", "web_fetch", waited_ms=1_000)
    timed_run.result(16, "web_search", ms=2_000, cost_usd=0.005)
    timed_run.result(19, "web_fetch", ms=5_000, is_error=True)
    timed_run.reply(20)
    timed_run.event(21, "run.paused", reason="asked for")
    timed_run.event(81, "run.queued")
    timed_run.event(91, "run.resumed")
    timed_run.event(95, "run.handed_back", waits_for="model", ready_in_s=5)
    timed_run.event(100, "run.resumed")
    timed_run.event(101, "run.handed_back", worker="w1")
    timed_run.event(103, "run.resumed")
    timed_run.reply(105)
    timed_run.event(105, "run.completed")
    timeline = await load_timeline(pool, timed_run.run_id, is_over=True, rows=100)
    first, second, third = timeline.steps
    assert (first.model_s, first.tools_s, first.waits.queue_s, first.waits.cooldown_s) == (3, 5, 10, 1)
    assert (first.tool_calls, first.tool_errors, first.at) == (2, 1, NOON)
    assert [(call.name, call.after_s, call.seconds) for call in first.calls] == [
        ("web_fetch", 0, 5),
        ("web_search", 0, 2),
    ]
    assert float(first.cost_usd or 0) == pytest.approx(0.015)
    assert (first.input_tokens, first.cache_read_tokens, first.context_tokens) == (100, 1_000, 1_160)
    assert (second.model_s, second.tools_s, second.waits.pause_s) == (1, 0, 0)
    waits = third.waits
    assert (third.model_s, waits.pause_s, waits.queue_s) == (2, 60, 10)
    assert (waits.cooldown_s, waits.handover_s) == (5, 2)
    total = timeline.total
    assert total is not None
    assert (total.model_s, total.tools_s, total.replies, total.tool_calls) == (6, 5, 3, 2)
    assert (total.waits.queue_s, total.waits.cooldown_s) == (20, 6)
    assert timeline.under_way is None


async def test_timeline_begins_a_call_that_wrote_with_its_reply(pool: Pool, shelf: Shelf):
    timed_run = TimedRun(shelf)
    timed_run.event(0, "run.started")
    timed_run.reply(2, "store_knowledge")
    timed_run.result(
        12, "store_knowledge", ms=10_000, row_at=4
    )  # its transaction began two seconds after the reply
    timed_run.reply(13)
    first, second = (await load_timeline(pool, timed_run.run_id, is_over=True, rows=100)).steps
    assert (first.tools_s, first.calls[0].after_s, second.model_s) == (10, 0, 1)


async def test_timeline_folds_many_turns_evenly_and_keeps_their_sums(pool: Pool, shelf: Shelf):
    timed_run = TimedRun(shelf)
    timed_run.event(0, "run.started")
    for turn in range(1, 24):
        timed_run.reply(2 * turn, cost_usd=None if turn == 1 else 0.01)
    timeline = await load_timeline(pool, timed_run.run_id, is_over=True, rows=10)
    assert timeline.fold == 3
    assert [(step.first_turn, step.last_turn) for step in timeline.steps][-2:] == [(19, 21), (22, 23)]
    assert [step.model_s for step in timeline.steps] == [6] * 7 + [4]
    assert timeline.steps[0].cost_usd is None  # the price of one is not known
    assert timeline.total is not None
    assert (timeline.total.model_s, timeline.total.output_tokens) == (46, 23 * 50)
    part = await load_timeline(pool, timed_run.run_id, is_over=True, rows=10, first=4, last=6)
    assert [(step.first_turn, step.last_turn) for step in part.steps] == [(4, 4), (5, 5), (6, 6)]
    assert part.total == timeline.total


async def test_timeline_says_what_is_under_way_and_leaves_it_out_of_the_sums(pool: Pool, shelf: Shelf):
    timed_run = TimedRun(shelf, state="running", finished_at=None)

    async def under_way() -> tuple[str, float, tuple[str, ...]]:
        now = (await load_timeline(pool, timed_run.run_id, is_over=False, rows=100)).under_way
        assert now is not None
        return now.activity, (now.since - NOON).total_seconds(), now.tools

    assert (await load_timeline(pool, timed_run.run_id, is_over=False, rows=100)).steps == ()
    timed_run.event(0, "run.queued")
    assert await under_way() == ("queue", 0, ())
    timed_run.event(5, "run.started")
    assert await under_way() == ("model", 5, ())
    timed_run.reply(9, "web_search", "web_fetch")
    timed_run.result(10, "web_search", ms=1_000)
    assert await under_way() == ("tools", 9, ("web_fetch",))
    timed_run.result(12, "web_fetch", ms=3_000)
    assert await under_way() == ("model", 12, ())
    timed_run.event(13, "run.paused")
    assert await under_way() == ("pause", 13, ())
    total = (await load_timeline(pool, timed_run.run_id, is_over=False, rows=100)).total
    assert total is not None
    assert (total.waits.queue_s, total.waits.pause_s, total.model_s) == (5, 0, 4)
