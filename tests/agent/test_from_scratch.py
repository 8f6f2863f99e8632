"""A retry that begins anew: nothing of the conversation is carried over, and nothing of the journal is lost."""

from typing import Any

import pytest
from support.run_harness import Stage
from support.scripted_model import Fails, Says, call, calls, says, turn

from chiron_workers.batches.steering import retry
from chiron_workers.errors import Conflict
from chiron_workers.states import Outcome
from chiron_workers.tools.notes import notes


@pytest.fixture
def noting(stage: Stage) -> Stage:
    stage.registry.register(notes)
    return stage


def script(request: dict[str, Any]) -> Says | Fails:
    blocks = [call("notes", title="plan", text="read the almanac")], [call("echo", words="again")]
    return calls(*blocks[turn(request) % 2])


async def test_a_run_from_scratch_forgets_its_conversation_and_its_notes(noting: Stage) -> None:
    await noting.model(script)
    (run_id,) = await noting.submit("tides", max_turns=2)
    assert await noting.play(run_id) is Outcome.FAILED
    await retry(noting.pool, run_id, from_scratch=True)
    assert await noting.rows("select title from notes") == []
    await noting.model(lambda _: says("anew"))
    assert await noting.play(run_id) is Outcome.PLAYED
    (asked,) = noting.server.requests
    assert [message["role"] for message in asked["messages"]] == ["user"]
    kinds = await noting.rows("select epoch, kind from entries order by n")
    assert [row["kind"] for row in kinds if row["epoch"] == 1] == ["opening", "question", "reply", "reply"]
    assert [row["kind"] for row in kinds if row["epoch"] == 2] == ["opening", "question", "reply"]


async def test_a_run_from_scratch_has_its_turns_again_and_no_more(noting: Stage) -> None:
    await noting.model(script)
    (run_id,) = await noting.submit("tides", max_turns=2)
    for attempt in (1, 2, 3):
        assert await noting.play(run_id) is Outcome.FAILED
        assert (await noting.row(run_id))["turns"] == 2 * attempt
        await retry(noting.pool, run_id, from_scratch=True)


async def test_a_completed_run_may_begin_from_scratch_and_loses_its_answer(stage: Stage) -> None:
    await stage.model(lambda _: says("first"))
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    with pytest.raises(Conflict):
        await retry(stage.pool, run_id)
    await retry(stage.pool, run_id, from_scratch=True)
    row = await stage.row(run_id)
    assert (row["state"], row["answer"]) == ("queued", None)
    assert (await stage.rows("select open_runs from batches"))[0]["open_runs"] == 1
    await stage.model(lambda _: says("second"))
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["answer"] == "second"
    assert (await stage.kinds(run_id)).count("batch.completed") == 2


async def test_what_is_under_way_cannot_begin_from_scratch(stage: Stage) -> None:
    (run_id,) = await stage.submit("tides")
    with pytest.raises(Conflict, match="1 queued"):
        await retry(stage.pool, run_id, from_scratch=True)
    await stage.claim(run_id)
    with pytest.raises(Conflict, match="1 running"):
        await retry(stage.pool, run_id, from_scratch=True)
    assert (await stage.row(run_id))["epoch"] == 1
