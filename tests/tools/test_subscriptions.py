from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chiron_workers.db.connect import Pool
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.runs.session import Caller

Call = Callable[..., Awaitable[Any]]
WEEKLY = {"topics": ["craters"], "subject_id": "Moon", "cron": "0 9 * * MON"}


async def test_a_run_orders_research_that_recurs_once_and_a_person_starts_it(
    call: Call, in_a_run: Caller
) -> None:
    made = await call("create_subscription", WEEKLY, in_a_run)
    assert (made["is_new"], made["state"], made["next_at"]) == (True, "paused", None)
    assert made["reason"] == f"made by run {in_a_run.run_id}; a person resumes it"
    again = await call("create_subscription", {**WEEKLY, "cron": "0  9 * * MON"}, in_a_run)
    assert again == {**made, "is_new": False}


async def test_a_subscription_that_also_rechecks_is_another_one_than_without(
    call: Call, in_a_run: Caller, pool: Pool
) -> None:
    made = await call("create_subscription", {**WEEKLY, "recheck": "true"}, in_a_run)
    assert made["recheck"] is True
    async with pool.connection() as connection:
        row = await (await connection.execute("select recheck from subscriptions")).fetchone()
    assert row == {"recheck": True}
    with pytest.raises(ToolError, match="reads"):
        await call("create_subscription", WEEKLY, in_a_run)


async def test_a_run_subscribes_for_no_other_subject(call: Call, in_a_run: Caller) -> None:
    with pytest.raises(ToolValidationError, match="cannot write to 'mars'; pass 'moon'"):
        await call("create_subscription", {**WEEKLY, "subject_id": "mars"}, in_a_run)


async def test_a_run_that_has_read_private_files_orders_no_research(
    call: Call, in_a_run: Caller, pool: Pool
) -> None:
    async with pool.connection() as connection:
        await connection.execute("insert into private_runs (run_id) values (%s)", (in_a_run.run_id,))
    with pytest.raises(ToolError, match="could carry their words out"):
        await call("create_subscription", WEEKLY, in_a_run)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cron": "every monday"}, "Write five fields"),
        ({"cron": "*/5 * * * *"}, "at least 60 minutes must lie between"),
        ({"time_zone": "Mars/Olympus"}, "There is no time zone"),
        ({"topics": []}, "topics: "),
        ({"budget_usd": 1_000}, "price of offline is not known|A time may cost at most"),
        ({"budget_usd": "-1"}, "budget_usd: "),
    ],
)
async def test_what_is_wrong_is_said_to_the_model(
    call: Call, in_a_run: Caller, wrong: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolError, match=words):
        await call("create_subscription", WEEKLY | wrong, in_a_run)


async def test_what_belongs_to_a_run_is_refused_outside_of_one(call: Call, in_a_run: Caller) -> None:
    criteria = [{"name": "short", "description": "It is short."}]
    with pytest.raises(ToolError, match="asks the model of a run, and this is no run"):
        await call("evaluation", {"text": "A text.", "criteria": criteria})
    for caller in (None, in_a_run):
        with pytest.raises(ToolError, match="No subscription started this run"):
            await call("silent_exit", {"reason": "Nothing new."}, caller)
