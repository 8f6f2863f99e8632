"""What a gateway sends instead of a reply: pages, redirects and refusals of the key. None of it costs anything or ends a run."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from support.run_harness import LEASE, Stage
from support.scripted_model import Fails, Says, call, calls, says, text, turn

from chiron_api.local_stack.checks.keys import checks
from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.steering import resume
from chiron_workers.batches.summaries import summary
from chiron_workers.runs.leases import acquire
from chiron_workers.runs.model_holds import active_holds
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

REFUSED = Fails(status=401, type="authentication_error", message="invalid x-api-key")
HTML = "<!DOCTYPE html><html><body>Sign in</body></html>"
PAGES = {
    "html": Fails(page=HTML),
    "html after blanks": Fails(page=f"\n\n  {HTML}"),
    "html that says it is a stream": Fails(page=HTML, page_type="text/event-stream"),
    "json": Fails(page='{"status": "maintenance"}', page_type="application/json"),
    "json that says it is a stream": Fails(
        page='{"error": {"message": "no"}}', page_type="text/event-stream"
    ),
    "words": Fails(page="upstream connect error", page_type="text/plain"),
    "nothing": Fails(page=""),
    "redirect": Fails(status=307, page="", headers={"location": "http://127.0.0.1:9/login"}),
    "redirect for good": Fails(status=301, page="", headers={"location": "/v1/messages"}),
}
Script = Callable[[dict[str, Any]], Says | Fails]


def after(fault: Fails, count: int) -> Script:
    left = [fault] * count
    return lambda _: left.pop() if left else says("the end")


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
async def test_a_page_writes_off_nothing_and_the_model_cools_down(stage: Stage, page: Fails) -> None:
    stage.settings = stage.settings.model_copy(update={"model_tries": 2})
    await stage.model(after(page, 1))
    (run_id,) = await stage.submit("tides")
    execution = stage.execution(await stage.claim(run_id))
    outcome = await execution.execute()
    row = await stage.row(run_id)
    assert (outcome, row["answer"], len(stage.server.requests)) == (Outcome.PLAYED, "the end", 2)
    assert (row["unconfirmed_calls"], row["unconfirmed_usd"], row["reserved_usd"]) == (0, 0, 0)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
async def test_pages_for_longer_than_a_call_tries_leave_the_run_in_the_queue(
    stage: Stage, page: Fails
) -> None:
    stage.settings = stage.settings.model_copy(update={"model_tries": 1})
    await stage.model(lambda _: page)
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.LEFT
    row = await stage.row(run_id)
    assert (row["state"], row["attempt"], row["unconfirmed_calls"], row["spent_usd"]) == ("queued", 1, 0, 0)
    [event] = await stage.rows("select data from events where kind = 'run.handed_back'")
    assert "ANTHROPIC_BASE_URL" in event["data"]["reason"]


@pytest.mark.parametrize("status", [502, 504, 520, 524])
async def test_a_gateway_whose_server_may_be_at_work_leaves_the_call_unconfirmed(
    stage: Stage, status: int
) -> None:
    stage.settings = stage.settings.model_copy(update={"model_tries": 1})
    await stage.model(lambda _: Fails(status=status, page=HTML))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.LEFT
    assert (await stage.row(run_id))["unconfirmed_calls"] == 1


async def test_a_refused_key_holds_the_model_and_one_run_tries_it(stage: Stage) -> None:
    await stage.model(after(REFUSED, 1))
    first, second, third = await stage.submit("a", "b", "c")
    assert await stage.play(first) is Outcome.LEFT
    assert (await stage.row(first))["state"] == "queued"
    [hold] = await active_holds(stage.pool)
    assert "refuses the key (401): invalid x-api-key. Check ANTHROPIC_API_KEY." in hold.reason
    [check] = checks(stage.settings)
    assert (check.name, check.ok) == ("key", False)
    assert hold.reason in check.found
    batch = await summary(stage.pool, (await stage.row(first))["batch_id"])
    assert batch.held[0]["reason"] == hold.reason
    await stage.end_waiting()
    look = await dispatch_next(stage.pool, room=lambda: 10, redispatch_after=timedelta(), model_limits={})
    assert [run.id for run in look.runs_to_dispatch] == [first]
    await stage.rows("update runs set dispatched_at = now() returning 1")
    for other in (second, third):
        assert await acquire(stage.pool, other, worker="here", lease_for=LEASE) is None
    assert await stage.play(first) is Outcome.PLAYED
    assert (await active_holds(stage.pool), checks(stage.settings)) == ([], [])
    for other in (second, third):
        assert await stage.play(other) is Outcome.PLAYED


async def test_others_try_where_nothing_is_heard_of_the_run_that_was_to(stage: Stage) -> None:
    await stage.model(after(REFUSED, 1))
    first, second = await stage.submit("a", "b")
    await stage.play(first)
    await stage.rows("update holds set until = now() - interval '3 minutes', probed_by = now() returning 1")
    assert await stage.play(second) is Outcome.PLAYED
    assert checks(stage.settings) == []


async def test_a_key_that_is_refused_for_five_minutes_pauses_the_runs_which_go_on_together(
    stage: Stage,
) -> None:
    await stage.model(after(REFUSED, 3))
    runs = await stage.submit("a", "b", "c")
    for minutes in (0, 2):
        await stage.rows("update holds set refused_at = refused_at - interval '2 minutes' returning 1")
        await stage.end_waiting()
        await stage.play(runs[0])
        states = {(await stage.row(run_id))["state"] for run_id in runs}
        assert states == {"queued"}, f"after {minutes} minutes"
    await stage.rows("update holds set refused_at = refused_at - interval '4 minutes' returning 1")
    await stage.end_waiting()
    await stage.play(runs[0])
    for run_id in runs:
        row = await stage.row(run_id)
        assert (row["state"], row["error"]["kind"]) == ("paused", "credentials")
        assert [remedy["action"] for remedy in row["error"]["remedies"]] == ["change_setting", "resume"]
        assert (await stage.kinds(run_id))[-1] == "run.paused"
    await resume(stage.pool, row["batch_id"])
    assert await active_holds(stage.pool) == []
    for run_id in runs:
        assert await stage.play(run_id) is Outcome.PLAYED


async def test_a_key_that_may_not_use_one_model_holds_that_model_alone(stage: Stage) -> None:
    def reply(request: dict[str, Any]) -> Says | Fails:
        is_allowed = request["model"] == "claude-haiku-4-5"
        return (
            Says((text("x"),))
            if is_allowed
            else Fails(status=403, type="permission_error", message="not yours")
        )

    await stage.model(reply)
    (refused,) = await stage.submit("a")
    stage.model_name = "claude-haiku-4-5"
    (allowed,) = await stage.submit("b")
    assert await stage.play(refused) is Outcome.LEFT
    assert await stage.play(allowed) is Outcome.PLAYED
    assert [hold.model for hold in await active_holds(stage.pool)] == ["claude-opus-5-5"]


async def test_a_refusal_in_the_midst_of_a_run_ends_no_run(stage: Stage) -> None:
    replies = [Says((call("echo", words="a"),), "tool_use"), REFUSED, says("the end")]
    await stage.model(lambda _: replies.pop(0))
    (run_id,) = await stage.submit("a")
    assert await stage.play(run_id) is Outcome.LEFT
    await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["answer"], row["turns"], row["attempt"], row["unconfirmed_calls"]) == ("the end", 2, 1, 0)


def register_questions(stage: Stage, model: str = "") -> None:
    """Give the stage two tools that ask a model; one of them makes an answer of its own of every error."""

    @tool
    async def ask(store: Store) -> str:
        """Ask the model a question."""
        assert store.side_model is not None
        return (await store.side_model.ask("Is it so?", tools=[], max_tokens=9, model=model)).text

    @tool
    async def ask_boldly(store: Store) -> str:
        """Ask the model a question, and answer it without the model if need be."""
        assert store.side_model is not None
        try:
            return (await store.side_model.ask("Is it so?", tools=[], max_tokens=9)).text
        except Exception:  # noqa: BLE001  # as a tool of a user may do it
            return "perhaps"

    stage.registry.register(ask)
    stage.registry.register(ask_boldly)


@pytest.mark.parametrize("name", ["ask", "ask_boldly"])
async def test_a_key_that_is_refused_to_a_tool_leaves_its_call_open(stage: Stage, name: str) -> None:
    register_questions(stage)
    answers = [REFUSED, says("yes")]
    await stage.model(
        lambda request: (
            [calls(call(name)), says("the end")][turn(request)] if request.get("tools") else answers.pop(0)
        )
    )
    (run_id,) = await stage.submit("a")
    assert await stage.play(run_id) is Outcome.LEFT
    row = await stage.row(run_id)
    assert (row["state"], row["attempt"], row["turns"], row["reserved_calls"]) == ("queued", 1, 1, 0)
    assert await stage.rows("select 1 from tool_results") == []
    assert [hold.model for hold in await active_holds(stage.pool)] == [stage.model_name]
    await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["answer"], row["turns"], row["unconfirmed_calls"], answers) == ("the end", 2, 0, [])
    [result] = await stage.rows("select body, is_error from tool_results")
    assert (result["body"], result["is_error"]) == ("yes", False)
    assert await active_holds(stage.pool) == []


async def test_a_key_that_is_refused_for_another_model_is_an_error_of_the_tool(stage: Stage) -> None:
    register_questions(stage, model="claude-haiku-4-5")
    await stage.model(
        lambda request: (
            [calls(call("ask")), says("the end")][turn(request)] if request.get("tools") else REFUSED
        )
    )
    (run_id,) = await stage.submit("a")
    assert await stage.play(run_id) is Outcome.PLAYED
    [result] = await stage.rows("select body, is_error from tool_results")
    assert result["is_error"]
    assert "refuses the key (401)" in result["body"]
    assert await active_holds(stage.pool) == []
