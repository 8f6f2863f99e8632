"""Deleting leaves nothing of a run behind, and nothing else is touched."""

from typing import Any
from uuid import UUID

import pytest
from support.backdated_runs import insert_side_reply, journal_rows
from support.run_harness import Stage
from support.scripted_model import call, calls, says, turn
from support.verified_quotes import quoted

from chiron_workers.batches import delete as removal
from chiron_workers.batches.delete import Deletion, delete
from chiron_workers.batches.steering import cancel, pause
from chiron_workers.batches.summaries import summary
from chiron_workers.errors import Conflict, LeaseLost, NotFound
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.evaluations import Evaluations
from chiron_workers.knowledge.facts.claims import claim
from chiron_workers.runs.entries import ToolCall
from chiron_workers.runs.leases import say
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import Outcome
from chiron_workers.store import Store

NAMES_A_RUN = """
select attrelid::regclass::text as name from pg_attribute join pg_class on pg_class.oid = attrelid
 where attname = 'run_id' and relkind in ('r', 'p') and not relispartition"""


@pytest.fixture
async def playing(stage: Stage) -> Stage:
    await stage.model(
        lambda request: [calls(call("note", words="one")), says("Done."), says("More.")][turn(request)]
    )
    return stage


async def rows_of(stage: Stage, run_id: UUID) -> dict[str, int]:
    """How many rows of each table name a run, whatever tables there are."""
    found = {}
    for table in [row["name"] for row in await stage.rows(NAMES_A_RUN)]:
        rows = await stage.rows(f"select count(*) as rows from {table} where run_id = %s", run_id)  # noqa: S608
        found[table] = rows[0]["rows"]
    return found


async def add_fact(stage: Stage, run_id: UUID, content: str) -> None:
    fields: dict[str, Any] = {"source_score": 0.9, "topic_path": "ice", "confidence": 0.9}
    async with Store(Session(stage.pool, Caller(run_id=run_id)), stage.embedder) as store:
        await store.facts.add(
            claim(subject_id="physics", content=content, source_url="https://example.org", **fields)
        )


async def batch_of(stage: Stage, run_id: UUID) -> UUID:
    found: UUID = (await stage.row(run_id))["batch_id"]
    return found


async def test_nothing_of_a_run_is_left_and_its_sibling_stays(playing: Stage) -> None:
    stage = playing
    gone, stays = await stage.submit("tides", "moons")
    for run_id in (gone, stays):
        await stage.play(run_id)
        await add_fact(stage, run_id, f"A fact of {run_id}.")
    await say(stage.pool, gone, "And then?")
    await stage.play(gone)
    before = await rows_of(stage, stays)
    assert await delete(stage.pool, gone) == Deletion(runs=1)
    assert set((await rows_of(stage, gone)).values()) == {0}
    assert await stage.rows("select 1 from runs where id = %s", gone) == []
    assert await rows_of(stage, stays) == before
    assert before["events"] > 0


async def test_texts_that_a_run_had_judged_go_with_it(playing: Stage) -> None:
    stage = playing
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    async with Session(stage.pool, Caller(run_id=run_id)) as session:
        await Evaluations(session).add(text="A secret.", question="", model="m", scores=[], overall=3)
    await delete(stage.pool, run_id)
    assert await stage.rows("select text from evaluations") == []


async def test_what_was_found_stays_unless_it_is_unwanted(playing: Stage) -> None:
    stage = playing
    kept, unwanted = await stage.submit("tides", "moons")
    for run_id in (kept, unwanted):
        await stage.play(run_id)
        await add_fact(stage, run_id, f"A fact of {run_id}.")
    assert (await delete(stage.pool, unwanted, with_facts=True)).facts == 1
    assert (await delete(stage.pool, kept)).facts == 0
    facts = await stage.rows("select content, run_id from facts")
    assert facts == [{"content": f"A fact of {kept}.", "run_id": None}]
    assert len(await stage.rows("select 1 from vectors_1")) == 1


async def test_what_another_run_confirmed_stays_and_what_was_contradicted_is_computed_anew(
    playing: Stage,
) -> None:
    stage = playing
    wrong, other = await stage.submit("tides", "moons")
    for run_id in (wrong, other):
        await stage.play(run_id)
    thick, thin = ("The crust is 50 km thick on average.", "The crust is 34 km thick on average.")
    for run_id, content, url in (
        (other, thick, "https://a.org/"),
        (wrong, thin, "https://b.org/"),
        (wrong, "Ice floats on water.", "https://b.org/"),
        (other, "Ice floats on water.", "https://c.org/"),
    ):
        claimed = await quoted(stage.pool, content, subject_id="physics", source_url=url)
        async with Store(Session(stage.pool, Caller(run_id=run_id)), stage.embedder) as store:
            await store.facts.add(claimed)
    assert (await delete(stage.pool, wrong, with_facts=True)).facts == 1
    facts = await stage.rows(
        "select content, source_url, run_id, status, confidence from facts order by content"
    )
    common = {"run_id": other, "status": "accepted", "confidence": pytest.approx(0.9)}
    assert facts == [
        {"content": "Ice floats on water.", "source_url": "https://c.org/"} | common,
        {"content": thick, "source_url": "https://a.org/"} | common,
    ]
    assert await stage.rows("select 1 from corroborations") == []


async def test_the_sums_of_the_batch_follow_and_the_last_run_takes_it_along(playing: Stage) -> None:
    stage = playing
    first, second = await stage.submit("tides", "moons")
    batch_id = await batch_of(stage, first)
    await stage.play(first)
    spent = (await stage.rows("select spent_usd from batch_costs"))[0]["spent_usd"]
    await delete(stage.pool, first)
    [row] = await stage.rows("select run_count, finished_at, c.spent_usd from batches, batch_costs c")
    assert row == {"run_count": 1, "finished_at": None, "spent_usd": spent}  # money that is spent stays spent
    assert await stage.play(second) is Outcome.PLAYED
    assert (await summary(stage.pool, batch_id)).state == "completed"
    assert (await stage.kinds(second))[-1] == "batch.completed"
    assert await delete(stage.pool, second) == Deletion(runs=1, batch=True)
    assert await stage.rows("select 1 from batches") == []


@pytest.mark.parametrize("state", ["queued", "running", "paused"])
async def test_what_is_open_is_not_deleted(playing: Stage, state: str) -> None:
    stage = playing
    done, still_open = await stage.submit("tides", "moons")
    await stage.play(done)
    if state == "running":
        await stage.claim(still_open)
    elif state == "paused":
        await pause(stage.pool, still_open)
    for target in (still_open, await batch_of(stage, done)):
        with pytest.raises(Conflict, match=rf"not all of it is finished \(1 {state}\)"):
            await delete(stage.pool, target)
    assert len(await stage.rows("select 1 from runs")) == 2
    assert (await journal_rows(stage.pool, done))["entries"] == 4


async def test_a_large_batch_goes_in_pieces_and_a_second_call_ends_what_a_first_began(
    playing: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = playing
    monkeypatch.setattr(removal, "RUNS_PER_TRANSACTION", 2)
    run_ids = await stage.submit(*(f"t{n}" for n in range(5)))
    await stage.play(run_ids[4])
    await insert_side_reply(stage.pool, run_ids[4])
    batch_id = await batch_of(stage, run_ids[0])
    await cancel(stage.pool, batch_id)
    whole, pieces = removal._delete_piece, []

    async def breaks_off(*args: Any) -> Deletion:
        if len(pieces) == 1:
            raise ConnectionError("the power fails")
        pieces.append(await whole(*args))
        return pieces[-1]

    monkeypatch.setattr(removal, "_delete_piece", breaks_off)
    with pytest.raises(ConnectionError):
        await delete(stage.pool, batch_id)
    assert (await stage.rows("select run_count from batches"))[0]["run_count"] == 3
    monkeypatch.setattr(removal, "_delete_piece", whole)
    assert await delete(stage.pool, batch_id) == Deletion(runs=3, batch=True)
    for table in ("runs", "batches", "entries", "tool_results", "side_replies", "events", "inbox"):
        assert await stage.rows(f"select 1 from {table}") == []  # noqa: S608


async def test_a_batch_whose_runs_fill_the_pieces_exactly_goes_whole(
    playing: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = playing
    monkeypatch.setattr(removal, "RUNS_PER_TRANSACTION", 2)
    run_ids = await stage.submit(*(f"t{n}" for n in range(4)))
    batch_id = await batch_of(stage, run_ids[0])
    await cancel(stage.pool, batch_id)
    assert await delete(stage.pool, batch_id) == Deletion(runs=4, batch=True)


async def test_whoever_still_holds_a_deleted_run_writes_nothing(playing: Stage) -> None:
    stage = playing
    [run_id] = await stage.submit("tides")
    zombie = stage.execution(await stage.claim(run_id))
    await stage.rows("update runs set state = 'queued' where id = %s returning 1", run_id)
    await cancel(stage.pool, run_id)
    await delete(stage.pool, run_id)
    with pytest.raises(LeaseLost):
        await zombie._tools.call(zombie.run, 3, ToolCall("toolu_1", "note", {"words": "late"}))
    assert await zombie.execute() is Outcome.LEFT
    assert set((await rows_of(stage, run_id)).values()) == {0}
    assert await stage.rows("select 1 from subjects where id = 'late'") == []
    assert stage.server.requests == []


async def test_an_unknown_id_is_not_found(stage: Stage) -> None:
    with pytest.raises(NotFound):
        await delete(stage.pool, new_id())


async def test_every_key_that_names_a_run_can_be_looked_up_when_the_run_is_deleted(stage: Stage) -> None:
    without_index = """
    select conrelid::regclass::text as name from pg_constraint c
     where contype = 'f' and confrelid = 'runs'::regclass and not exists (
       select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1]
         and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) = '(run_id IS NOT NULL)'))"""
    assert await stage.rows(without_index) == []
