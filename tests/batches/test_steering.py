"""Every state against every command, for runs and for batches: guarded transitions, exact counts, gapless events."""

import asyncio
from collections import Counter
from dataclasses import fields
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from support.run_harness import LEASE, Stage, open_stage

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.steering import SteeringResult, cancel, pause, resume, retry
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import BudgetSpent, Conflict, NotFound, UsageError
from chiron_workers.ids import new_id
from chiron_workers.problems import Noun, Remedy, RemedyAction
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.release import Release, failed_release
from chiron_workers.runs.rescue import rescue
from chiron_workers.states import EventKind, RunState
from chiron_workers.worker.execution import hand_back, stop_at_budget

COMMANDS = {"cancel": cancel, "pause": pause, "resume": resume, "retry": retry}
REFUSED = None
# What a run in a state becomes by a command; a running one keeps its state, and its worker is asked.
BECOMES: dict[str, dict[str, tuple[str, str | None] | None]] = {
    "queued": {
        "cancel": ("cancelled", None),
        "pause": ("paused", None),
        "resume": REFUSED,
        "retry": REFUSED,
    },
    "running": {
        "cancel": ("running", "cancel"),
        "pause": ("running", "pause"),
        "resume": REFUSED,
        "retry": REFUSED,
    },
    "paused": {
        "cancel": ("cancelled", None),
        "pause": REFUSED,
        "resume": ("queued", None),
        "retry": REFUSED,
    },
    "completed": dict.fromkeys(COMMANDS, REFUSED),
    "failed": {"cancel": REFUSED, "pause": REFUSED, "resume": REFUSED, "retry": ("queued", None)},
    "cancelled": {"cancel": REFUSED, "pause": REFUSED, "resume": REFUSED, "retry": ("queued", None)},
}
CASES = [(state, command) for state in BECOMES for command in COMMANDS]


@pytest.fixture
async def stage(pool, settings, embedder):
    async with open_stage(pool, settings, embedder) as made:
        yield made


def journal(stage: Stage) -> Journal:
    return Journal(stage.pool, stage.published.append, lease_for=LEASE)


async def bring(stage: Stage, run_id: UUID, state: str) -> Run | None:
    """Take a queued run into a state, as a worker or a person would."""
    match state:
        case "queued":
            return None
        case "paused":
            await pause(stage.pool, run_id)
        case "cancelled":
            await cancel(stage.pool, run_id)
        case _:
            run = await stage.claim(run_id)
            endings = {
                "completed": Release(RunState.COMPLETED, ((EventKind.RUN_COMPLETED, {"answer": "42"}),)),
                "failed": failed_release("refusal", "The model refuses."),
            }
            if state in endings:
                assert await journal(stage).release(run, endings[state])
            return run
    return None


async def batch_of(stage: Stage, run_id: UUID) -> dict[str, Any]:
    batch_id = (await stage.row(run_id))["batch_id"]
    return (await stage.rows("select * from batches where id = %s", batch_id))[0]


async def counted_exactly(stage: Stage, run_id: UUID) -> None:
    """The batch knows whether it has open runs, and all events of its runs are numbered without gaps."""
    batch = await batch_of(stage, run_id)
    rows = await stage.rows("select id, state from runs where batch_id = %s", batch["id"])
    open_runs = sum(not RunState(row["state"]).is_final for row in rows)
    assert batch["open_runs"] >= open_runs
    assert (batch["finished_at"] is not None) == (batch["open_runs"] == 0) == (open_runs == 0)
    for row in rows:
        await stage.kinds(row["id"])


async def completions(stage: Stage, run_id: UUID) -> int:
    batch = await batch_of(stage, run_id)
    return len(
        await stage.rows("select 1 from events where batch_id = %s and kind = 'batch.completed'", batch["id"])
    )


@pytest.mark.parametrize(
    ("command", "state", "way_on"),
    [("retry", "paused", RemedyAction.RESUME), ("resume", "failed", RemedyAction.RETRY)],
)
async def test_a_refused_retry_or_resume_names_the_act_that_goes_on(
    stage: Stage, command: str, state: str, way_on: RemedyAction
) -> None:
    (run_id,) = await stage.submit("tides")
    await bring(stage, run_id, state)
    batch_id = (await stage.row(run_id))["batch_id"]
    for target, noun in ((run_id, Noun.RUN), (batch_id, Noun.BATCH)):
        with pytest.raises(Conflict) as refusal:
            await COMMANDS[command](stage.pool, target)
        assert refusal.value.remedies == (Remedy(way_on, noun, str(target)),)


@pytest.mark.parametrize("whole_batch", [False, True], ids=["run", "batch"])
@pytest.mark.parametrize(("state", "command"), CASES)
async def test_a_command_changes_what_it_may_and_refuses_the_rest(
    stage: Stage, state: str, command: str, whole_batch: bool
) -> None:
    (run_id,) = await stage.submit("tides")
    await bring(stage, run_id, state)
    before, ended_before = await stage.row(run_id), await completions(stage, run_id)
    target = before["batch_id"] if whole_batch else run_id
    becomes = BECOMES[state][command]
    if becomes is REFUSED:
        with pytest.raises(Conflict, match=rf"^{target} stays as it is: nothing of it .* \(1 {state}\)\.$"):
            await COMMANDS[command](stage.pool, target)
        assert await stage.row(run_id) == before
    else:
        steered = await COMMANDS[command](stage.pool, target)
        after = await stage.row(run_id)
        assert (after["state"], after["stop_requested"]) == becomes
        assert (steered.changed, steered.requested) == ((0, 1) if state == "running" else (1, 0))
        stored = await stage.rows(
            "select run_id, seq, kind, at, data from events where run_id = %s and seq > %s order by seq",
            run_id,
            before["seq"],
        )
        told = [
            {name: getattr(event, name) for name in ("run_id", "seq", "kind", "at", "data")}
            for event in steered.events
        ]
        assert told == stored
    await counted_exactly(stage, run_id)
    ends = command == "cancel" and state in ("queued", "paused")
    assert await completions(stage, run_id) == ended_before + ends


@pytest.mark.parametrize("command", list(COMMANDS))
async def test_what_does_not_exist_is_not_found(stage: Stage, command: str) -> None:
    unknown = new_id()
    with pytest.raises(NotFound, match=f"no batch or run {unknown}"):
        await COMMANDS[command](stage.pool, unknown)


async def mixed(stage: Stage) -> dict[str, UUID]:
    """A batch with one run in each state."""
    ids = dict(zip(BECOMES, await stage.submit(*BECOMES), strict=True))
    for state, run_id in ids.items():
        await bring(stage, run_id, state)
    return ids


@pytest.mark.parametrize(
    ("command", "changed", "asked", "after"),
    [
        ("cancel", 2, 1, {"cancelled": 3, "running": 1, "completed": 1, "failed": 1}),
        ("pause", 1, 1, {"paused": 2, "running": 1, "completed": 1, "failed": 1, "cancelled": 1}),
        ("resume", 1, 0, {"queued": 2, "running": 1, "completed": 1, "failed": 1, "cancelled": 1}),
        ("retry", 2, 0, {"queued": 3, "running": 1, "paused": 1, "completed": 1}),
    ],
)
async def test_in_a_batch_a_command_touches_the_runs_it_fits(
    stage: Stage, command: str, changed: int, asked: int, after: dict[str, int]
) -> None:
    ids = await mixed(stage)
    batch_id = (await stage.row(ids["queued"]))["batch_id"]
    others = await stage.submit("another batch")
    steered = await COMMANDS[command](stage.pool, batch_id)
    assert (steered.changed, steered.requested) == (changed, asked)
    rows = await stage.rows("select state from runs where batch_id = %s", batch_id)
    assert Counter(row["state"] for row in rows) == after
    await counted_exactly(stage, ids["queued"])
    assert await completions(stage, ids["queued"]) == 0
    assert (await stage.row(others[0]))["state"] == "queued"


async def test_the_last_run_of_a_cancelled_batch_completes_it_once(stage: Stage) -> None:
    ids = await mixed(stage)
    row = await held(stage, ids["running"])
    columns = {field.name: row[field.name] for field in fields(Run) if field.name in row}
    run = Run(**columns, server_started_at=row["started_at"])
    await cancel(stage.pool, run.batch_id)
    assert await completions(stage, run.id) == 0
    await journal(stage).release(run, hand_back("the worker stops"))
    assert (await stage.kinds(run.id))[-2:] == ["run.cancelled", "batch.completed"]
    await counted_exactly(stage, run.id)
    steered = await retry(stage.pool, run.batch_id)
    assert steered.changed == 5  # all but the completed one
    await counted_exactly(stage, run.id)
    await cancel(stage.pool, run.batch_id)
    assert await completions(stage, run.id) == 2
    await counted_exactly(stage, run.id)


async def held(stage: Stage, run_id: UUID) -> dict[str, Any]:
    query = (
        "select r.*, s.title as subject, b.owner, b.key_id, b.columns from runs r join subjects s on s.id = r.subject_id "
        "join batches b on b.id = r.batch_id where r.id = %s"
    )
    return (await stage.rows(query, run_id))[0]


@pytest.mark.parametrize(
    ("command", "ending", "state"),
    [
        (None, hand_back("x"), "queued"),
        ("pause", hand_back("x"), "paused"),
        ("cancel", hand_back("x"), "cancelled"),
        ("pause", stop_at_budget(BudgetSpent("x")), "paused"),
        ("cancel", stop_at_budget(BudgetSpent("x")), "cancelled"),
        ("pause", failed_release("x", "x"), "failed"),
        ("cancel", failed_release("x", "x"), "cancelled"),
        ("cancel", Release(RunState.COMPLETED, ()), "completed"),
    ],
)
async def test_whoever_lets_go_of_a_run_does_what_is_wanted_of_it(
    stage: Stage, command: str | None, ending: Release, state: str
) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    if command:
        await COMMANDS[command](stage.pool, run_id)
    assert await journal(stage).release(run, ending)
    row = await stage.row(run_id)
    assert (row["state"], row["stop_requested"]) == (state, None)
    await counted_exactly(stage, run_id)


@pytest.mark.parametrize(("command", "state"), [("pause", "paused"), ("cancel", "cancelled")])
async def test_the_rescue_does_what_was_wanted_of_a_dead_worker(
    stage: Stage, command: str, state: str
) -> None:
    (run_id,) = await stage.submit("tides")
    await stage.claim(run_id)
    await COMMANDS[command](stage.pool, run_id)
    await stage.rows("update runs set leased_until = now() - interval '1 s' returning id")
    assert await rescue(journal(stage), may_rescue=lambda _: True) == 1
    assert (await stage.row(run_id))["state"] == state
    await counted_exactly(stage, run_id)


async def test_resume_takes_a_pause_back_before_the_worker_learns_of_it(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await pause(stage.pool, run_id)
    assert await resume(stage.pool, run_id) == SteeringResult(1, 0, [])
    row = await stage.row(run_id)
    assert (row["state"], row["stop_requested"], row["lease"]) == ("running", None, run.lease)


async def test_neither_pause_nor_resume_takes_a_cancel_back(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    await stage.claim(run_id)
    await pause(stage.pool, run_id)
    await cancel(stage.pool, run_id)
    for command in (pause, resume):
        with pytest.raises(Conflict, match=r"1 running until it is cancelled"):
            await command(stage.pool, run_id)
    assert (await cancel(stage.pool, run_id)).requested == 1, "asking again does no harm"
    assert (await stage.row(run_id))["stop_requested"] == "cancel"


@pytest.mark.parametrize("whose", ["run", "batch"])
async def test_a_spent_budget_needs_a_higher_one(stage: Stage, whose: str) -> None:
    run_id, other = await stage.submit("tides", "waves", budget=Budget(Decimal(1)))
    await bring(stage, run_id, "paused")
    await bring(stage, other, "failed")
    batch_id = (await stage.row(run_id))["batch_id"]
    if whose == "batch":
        await stage.rows("update batches set spent_usd = 1, unconfirmed_usd = 0.5 returning id")
    else:
        await stage.rows("update runs set budget_usd = 1, spent_usd = 1, unconfirmed_usd = 0.5 returning id")
    for command, run in ((resume, run_id), (retry, other)):
        target = batch_id if whose == "batch" else run
        for budget in (None, Decimal(1), Decimal("1.5")):
            before = await stage.row(run), await batch_of(stage, run)
            with pytest.raises(Conflict, match=r"has spent 1\.5000 of its .* higher budget"):
                await command(stage.pool, target, budget=Budget(budget))
            assert (await stage.row(run), await batch_of(stage, run)) == before
        if whose == "run":
            await command(stage.pool, target, budget=Budget(Decimal(2)))
    if whose == "batch":
        await resume(stage.pool, batch_id, budget=Budget(Decimal(2)))
        await retry(stage.pool, batch_id)
    changed = await batch_of(stage, run_id) if whose == "batch" else await stage.row(run_id)
    assert changed["budget_usd"] == 2


async def test_a_run_cannot_go_on_while_the_budget_of_its_batch_is_spent(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides", budget=Budget(tokens=100))
    await bring(stage, run_id, "paused")
    await stage.rows("update batches set spent_tokens = 100 returning id")
    with pytest.raises(Conflict, match=r"Batch .* has spent 100 of its 100 tokens.* higher budget"):
        await resume(stage.pool, run_id, budget=Budget(tokens=500))
    await resume(stage.pool, (await stage.row(run_id))["batch_id"], budget=Budget(tokens=500))
    assert (await stage.row(run_id))["state"] == "queued"


@pytest.mark.parametrize("budget", [Decimal(0), Decimal(-1), Decimal(10**9)])
async def test_a_budget_that_is_no_amount_is_a_wrong_call(stage: Stage, budget: Decimal) -> None:
    (run_id,) = await stage.submit("tides")
    await bring(stage, run_id, "paused")
    with pytest.raises(UsageError, match="The budget must be"):
        await resume(stage.pool, run_id, budget=Budget(budget))
    assert (await stage.row(run_id))["state"] == "paused"


async def test_a_budget_needs_a_price_that_binds_it(stage: Stage, unpriced: str) -> None:
    stage.model_name = unpriced
    (run_id,) = await stage.submit("tides")
    await bring(stage, run_id, "paused")
    with pytest.raises(UsageError, match="The price of nobody-knows is not known"):
        await resume(stage.pool, run_id, budget=Budget(Decimal(1)))
    await resume(stage.pool, run_id, budget=Budget(tokens=1))


async def test_a_run_that_used_up_its_turns_gets_more_by_a_retry(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides", max_turns=3)
    await bring(stage, run_id, "failed")
    await stage.rows("update runs set turns = 3, attempt = 4 returning id")
    await retry(stage.pool, run_id)
    row = await stage.row(run_id)
    assert (row["max_turns"], row["attempt"], row["error"], row["finished_at"]) == (53, 1, None, None)


async def test_what_waits_for_its_time_waits_for_it_also_after_a_pause(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    tomorrow = (await stage.rows("update runs set ready_at = now() + interval '1 day' returning ready_at"))[0]
    await stage.rows("update batches set ready_at = now() + interval '1 day' returning id")
    await pause(stage.pool, run_id)
    await resume(stage.pool, run_id)
    assert (await stage.row(run_id))["ready_at"] == tomorrow["ready_at"]


async def test_what_is_tried_again_starts_now_whatever_time_its_batch_was_given(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    await stage.rows("update runs set ready_at = now() + interval '1 day' returning id")
    await stage.rows("update batches set ready_at = now() + interval '1 day' returning id")
    await cancel(stage.pool, run_id)
    await retry(stage.pool, run_id)
    look = await dispatch_next(
        stage.pool, room=lambda: 5, redispatch_after=timedelta(seconds=10), model_limits={}
    )
    assert [run.id for run in look.runs_to_dispatch] == [run_id]


async def test_commands_that_come_at_once_end_each_run_once(stage: Stage) -> None:
    ids = await stage.submit(*(f"topic {n}" for n in range(20)))
    batch_id = (await stage.row(ids[0]))["batch_id"]
    targets = [batch_id, *ids[:10], batch_id, *ids[5:]]
    found = await asyncio.gather(*(cancel(stage.pool, target) for target in targets), return_exceptions=True)
    steered = [result for result in found if isinstance(result, SteeringResult)]
    assert {type(result) for result in found} <= {SteeringResult, Conflict}
    assert sum(result.changed for result in steered) == 20
    assert await completions(stage, ids[0]) == 1
    await counted_exactly(stage, ids[0])
    kinds = await stage.rows("select count(*) as n from events where kind = 'run.cancelled'")
    assert kinds[0]["n"] == 20


async def test_workers_and_commands_at_once_leave_exact_counts(stage: Stage) -> None:
    ids = await stage.submit(*(f"topic {n}" for n in range(30)))
    batch_id = (await stage.row(ids[0]))["batch_id"]

    async def worker(run_id: UUID) -> None:
        run = await stage.claim(run_id)
        await journal(stage).release(
            run, Release(RunState.COMPLETED, ((EventKind.RUN_COMPLETED, {"answer": "42"}),))
        )

    commands = [pause(stage.pool, batch_id), cancel(stage.pool, batch_id), resume(stage.pool, batch_id)]
    works = [worker(run_id) for run_id in ids[:15]]
    await asyncio.gather(*works[:7], *commands, *works[7:], return_exceptions=True)
    await asyncio.gather(cancel(stage.pool, batch_id), return_exceptions=True)
    await counted_exactly(stage, ids[0])
    assert (await batch_of(stage, ids[0]))["open_runs"] == 0
    assert await completions(stage, ids[0]) == 1


async def test_a_run_that_was_handed_back_to_wait_goes_on_at_once_when_it_is_resumed(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    assert await journal(stage).release(run, hand_back("tomorrow", ready_in=timedelta(hours=9)))
    assert (await resume(stage.pool, run_id)).changed == 1
    (row,) = await stage.rows("select state, ready_at <= now() as is_ready from runs")
    assert row == {"state": "queued", "is_ready": True}
    with pytest.raises(Conflict):
        await resume(stage.pool, run_id)


async def test_a_budget_is_raised_before_it_is_spent(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides", budget=Budget(Decimal(1)))
    batch_id = (await stage.row(run_id))["batch_id"]
    assert (await resume(stage.pool, batch_id, budget=Budget(Decimal(5)))).changed == 0
    assert (await batch_of(stage, run_id))["budget_usd"] == 5
    with pytest.raises(Conflict):
        await retry(stage.pool, batch_id, budget=Budget(Decimal(6)))
