"""What is announced to whom: in the transaction of the change, once, and only to the owner."""

import asyncio
from collections.abc import Callable
from typing import Any

from support.run_harness import Stage
from support.scripted_model import says

from chiron_workers.agent.answer import Answer
from chiron_workers.batches.steering import cancel, pause
from chiron_workers.errors import BudgetSpent
from chiron_workers.runs.batch_completion import complete_batch
from chiron_workers.runs.release import failed_release, release_run
from chiron_workers.states import NoticeKind
from chiron_workers.webhooks.webhooks import KINDS
from chiron_workers.webhooks.wording import sentence
from chiron_workers.worker.execution import completion, hand_back, stop_at_budget

Hook = Callable[..., Any]
URL = "https://example.org/hook"


async def payloads(stage: Stage) -> list[dict[str, Any]]:
    rows = await stage.rows("select payload from deliveries order by id")
    return [row["payload"] for row in rows]


async def release(stage: Stage, run_id: Any, ended: Any, *, commits: bool = True) -> None:
    run = await stage.claim(run_id)
    async with stage.pool.connection() as connection, connection.transaction(force_rollback=not commits):
        assert await release_run(connection, run, ended) is not None
    await complete_batch(stage.pool, run.batch_id)


async def test_the_end_of_a_batch_is_announced_with_what_it_came_to(stage: Stage, hook: Hook):
    _, webhook = await hook(URL)
    ice, snow = await stage.submit("ice", "snow")
    await release(stage, ice, completion(Answer("It melts.")))
    assert await payloads(stage) == []
    await release(stage, snow, failed_release("max_turns", "It took too long."))
    failure, end = await payloads(stage)
    assert (failure["type"], failure["data"]["name"], failure["data"]["state"]) == (
        "run.failed",
        "snow",
        "failed",
    )
    assert (failure["data"]["reason"], failure["data"]["link"]) == ("It took too long.", f"/runs/{snow}")
    [remedy] = failure["data"]["remedies"]
    assert (remedy["action"], remedy["target"], remedy["words"]) == ("retry", str(snow), "Try the run again")
    assert (end["type"], end["data"]["runs"]) == ("batch.completed", {"completed": 1, "failed": 1})
    assert (end["data"]["facts"], end["data"]["spent_usd"]) == (0, 0.0)
    assert end["data"]["link"] == f"/batches/{end['data']['batch_id']}"
    assert "It melts." not in str(await payloads(stage))
    assert {row["webhook_id"] for row in await stage.rows("select webhook_id from deliveries")} == {
        webhook.id
    }


async def test_who_found_nothing_is_said_of_the_run_and_counted_for_its_batch(stage: Stage, hook: Hook):
    await hook(URL, kinds=KINDS)
    ice, snow = await stage.submit("ice", "snow")
    await stage.rows("update runs set facts = 1 where id = %s returning 1", snow)
    for run_id in (ice, snow):
        await release(stage, run_id, completion(Answer("It melts.")))
    told = {payload["type"]: payload for payload in await payloads(stage) if "run" not in payload["type"]}
    by_run = {
        payload["data"]["name"]: payload for payload in await payloads(stage) if "run" in payload["type"]
    }
    assert {name: payload["data"]["nothing_found"] for name, payload in by_run.items()} == {
        "ice": True,
        "snow": False,
    }
    assert told["batch.completed"]["data"]["nothing_found"] == 1
    assert "nothing found" in sentence(by_run["ice"])
    assert "1 run found nothing" in sentence(told["batch.completed"])


async def test_a_release_that_is_rolled_back_announces_nothing(stage: Stage, hook: Hook):
    await hook(URL, kinds=KINDS)
    [run_id] = await stage.submit("ice")
    await release(stage, run_id, completion(Answer("It melts.")), commits=False)
    assert await payloads(stage) == []


async def test_a_pause_at_a_budget_is_announced_with_its_reason_and_one_that_was_asked_for_is_not(
    stage: Stage, hook: Hook
):
    await hook(URL)
    ice, snow = await stage.submit("ice", "snow")
    await release(stage, ice, stop_at_budget(BudgetSpent("The budget of the run, $1, is spent.")))
    await pause(stage.pool, snow)
    assert [(payload["type"], payload["data"]["reason"]) for payload in await payloads(stage)] == [
        ("budget.reached", "The budget of the run, $1, is spent."),
        ("run.paused", "The budget of the run, $1, is spent."),
    ]


async def test_what_was_cancelled_is_announced_to_who_wants_to_know(stage: Stage, hook: Hook):
    await hook(URL, kinds=[NoticeKind.RUN_CANCELLED, NoticeKind.BATCH_COMPLETED])
    [run_id] = await stage.submit("ice")
    await cancel(stage.pool, run_id)
    assert [payload["type"] for payload in await payloads(stage)] == ["run.cancelled", "batch.completed"]


async def test_neither_other_owners_nor_webhooks_that_are_off_hear_of_it(stage: Stage, hook: Hook):
    await hook(URL, owner="alice", kinds=KINDS)
    _, webhook = await hook(URL, kinds=KINDS)
    await stage.rows("update webhooks set state = 'off' where id = %s returning 1", webhook.id)
    [run_id] = await stage.submit("ice")
    await release(stage, run_id, completion(Answer("It melts.")))
    assert await payloads(stage) == []


async def test_a_run_that_ends_silently_or_is_handed_back_is_not_announced(stage: Stage, hook: Hook):
    await hook(URL, kinds=[NoticeKind.RUN_COMPLETED, NoticeKind.RUN_PAUSED])
    ice, snow = await stage.submit("ice", "snow")
    await release(stage, ice, completion(Answer("Nothing new.", is_silent=True)))
    await release(stage, snow, hand_back("the worker stops"))
    assert await payloads(stage) == []


async def test_a_batch_whose_runs_all_end_silently_is_not_announced(stage: Stage, hook: Hook):
    await hook(URL)
    [run_id] = await stage.submit("ice")
    await release(stage, run_id, completion(Answer("Nothing new.", is_silent=True)))
    assert await payloads(stage) == []


async def test_a_webhook_that_is_removed_meanwhile_makes_no_release_fail(stage: Stage, hook: Hook):
    _, webhook = await hook(URL, kinds=KINDS)
    [run_id] = await stage.submit("ice")
    run = await stage.claim(run_id)
    async with stage.pool.connection() as connection, connection.transaction():
        assert await release_run(connection, run, completion(Answer("It melts."))) is not None
        removal = asyncio.create_task(
            stage.rows("delete from webhooks where id = %s returning id", webhook.id)
        )
        async with asyncio.timeout(60):
            while not await stage.rows("select from pg_stat_activity where wait_event_type = 'Lock'"):
                await asyncio.sleep(0.01)
    assert len(await removal) == 1
    assert await payloads(stage) == []
    assert [row["state"] for row in await stage.rows("select state from runs")] == ["completed"]


async def test_a_whole_run_is_announced_once_to_each_webhook(stage: Stage, hook: Hook):
    await stage.model(lambda request: says("It melts."))
    for _ in range(2):
        await hook(URL, kinds=KINDS)
    [run_id] = await stage.submit("ice")
    await stage.play(run_id)
    kinds = [payload["type"] for payload in await payloads(stage)]
    assert sorted(kinds) == ["batch.completed"] * 2 + ["run.completed"] * 2
