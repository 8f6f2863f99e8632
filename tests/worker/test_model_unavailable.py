"""Takings of runs whose model does not answer: they wait without using up what they may take."""

import itertools
from datetime import timedelta
from typing import Any
from uuid import UUID

from support.run_harness import LEASE, Stage
from support.scripted_model import Fails, Says, call, calls, says, turn

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.runs.leases import acquire
from chiron_workers.runs.model_holds import active_holds
from chiron_workers.states import Outcome

SPEND_LIMIT = Fails(
    status=429, type="rate_limit_error", message="enforced_spend_limit_reached: the monthly limit is reached"
)
AWAY = Fails(status=500, message="no luck")


async def handed_back(stage: Stage, run_id: UUID) -> list[dict[str, Any]]:
    query = "select data from events where run_id = %s and kind = 'run.handed_back' order by seq"
    return [row["data"] for row in await stage.rows(query, run_id)]


async def test_a_spend_limit_holds_the_queue_of_its_model_and_says_so(stage: Stage) -> None:
    await stage.model(lambda _: SPEND_LIMIT)
    first, second = await stage.submit("a", "b")
    assert await stage.play(first) is Outcome.LEFT
    (held,) = await active_holds(stage.pool)
    assert held.model == stage.model_name
    assert "spend limit of the account is reached: enforced_spend_limit_reached" in held.reason
    (told,) = await handed_back(stage, first)
    assert (told["waits_for"], told["ready_in_s"], held.reason) == ("model", 900, told["reason"])
    look = await dispatch_next(stage.pool, room=lambda: 10, redispatch_after=timedelta(), model_limits={})
    assert look.runs_to_dispatch == []
    assert await acquire(stage.pool, second, worker="here", lease_for=LEASE) is None
    assert len(stage.server.requests) == 1


async def test_a_long_retry_after_holds_the_queue_too(stage: Stage) -> None:
    await stage.model(lambda _: Fails(status=429, headers={"retry-after": "1200"}))
    (run_id,) = await stage.submit("a")
    await stage.play(run_id)
    left = "select extract(epoch from until - now()) as s from holds"
    assert 1_100 < (await stage.rows(left))[0]["s"] <= 1_200


async def test_a_run_outlives_more_holds_than_it_has_attempts_and_then_completes(stage: Stage) -> None:
    holds = stage.settings.max_attempts + 3
    answers = itertools.chain([SPEND_LIMIT] * holds, itertools.repeat(says("done")))
    await stage.model(lambda _: next(answers))
    (run_id,) = await stage.submit("a")
    for _ in range(holds):
        assert await stage.play(run_id) is Outcome.LEFT
        await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.PLAYED
    row = await stage.row(run_id)
    assert (row["state"], row["attempt"]) == ("completed", 1)


async def test_a_model_that_is_away_uses_up_no_attempts_either_and_is_looked_for_less_and_less_often(
    stage: Stage,
) -> None:
    stage.settings = stage.settings.model_copy(update={"model_tries": 1})
    await stage.model(lambda _: AWAY)
    (run_id,) = await stage.submit("a")
    for _ in range(stage.settings.max_attempts + 3):
        assert await stage.play(run_id) is Outcome.LEFT
        await stage.rows("update events set at = at - interval '5 minutes' returning 1")
        await stage.end_waiting()
    assert (await stage.row(run_id))["attempt"] == 1
    waits = [told["ready_in_s"] for told in await handed_back(stage, run_id)]
    assert 60 <= waits[0] <= 75
    assert 900 <= waits[-1] <= 1_125


async def test_patience_with_a_model_ends_and_the_run_says_what_it_waited_for(stage: Stage) -> None:
    stage.settings = stage.settings.model_copy(update={"model_tries": 1, "model_patience_s": 7_200})
    await stage.model(lambda _: AWAY)
    (run_id,) = await stage.submit("a")
    await stage.play(run_id)
    await stage.rows("update events set at = at - interval '3 hours' returning 1")
    await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.FAILED
    error = (await stage.row(run_id))["error"]
    assert error["kind"] == "model"
    assert error["message"] == "The model answers 500: no luck. The run waited 3.0 hours for it."


async def test_patience_begins_anew_when_a_run_gets_further(stage: Stage) -> None:
    stage.settings = stage.settings.model_copy(update={"model_tries": 1, "model_patience_s": 7_200})
    is_away = True

    def script(request: dict[str, Any]) -> Says | Fails:
        if is_away or turn(request) == 1:
            return AWAY
        return calls(call("echo", words="x"))

    await stage.model(script)
    (run_id,) = await stage.submit("a")
    await stage.play(run_id)
    await stage.rows("update events set at = at - interval '3 hours' returning 1")
    await stage.end_waiting()
    is_away = False
    assert await stage.play(run_id) is Outcome.LEFT
    assert (await stage.row(run_id))["turns"] == 1
