import asyncio
from collections.abc import AsyncIterator

import pytest

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import ToolError
from chiron_workers.ids import new_id
from chiron_workers.runs.notes import BYTES_MAX, notes_of, size
from chiron_workers.runs.session import Caller, Session
from chiron_workers.store import Store
from chiron_workers.tools.notes import notes
from chiron_workers.tools.results import read_result


@pytest.fixture
async def caller(pool: Pool) -> Caller:
    """A run, on whose behalf tools are called."""
    submitted = await submit(
        pool, NewBatch([NewRun("tides", "research", "Physics", "offline", 9)], "Physics")
    )
    return Caller(run_id=submitted.run_ids[0], batch_id=submitted.batch_id)


@pytest.fixture
async def store(pool: Pool, embedder: Embedder, caller: Caller) -> AsyncIterator[Store]:
    async with Store(Session(pool, caller), embedder) as opened:
        yield opened


async def test_a_note_is_kept_replaced_and_removed(store: Store) -> None:
    await notes(store, title="plan", text="read the almanac")
    found = await notes(store, title="plan", text="ask the pilot")
    assert found == {"titles": ["plan"], "room_left": BYTES_MAX - len("planask the pilot")}
    await notes(store, title="tides", text="twice a day")
    assert (await notes(store, title="plan", text=" "))["titles"] == ["tides"]


async def test_notes_have_room_for_so_much_and_no_more(store: Store) -> None:
    await notes(store, title="a", text="x" * 5_000)
    with pytest.raises(ToolError, match="room for 2,999"):
        await notes(store, title="b", text="x" * 3_000)
    await notes(store, title="a", text="x" * 100)
    assert (await notes(store, title="b", text="潮" * 2_000))["room_left"] == BYTES_MAX - 101 - 6_001


async def test_notes_that_are_written_side_by_side_stay_within_their_room(
    pool: Pool, embedder: Embedder, caller: Caller
) -> None:
    async def write(title: str) -> bool:
        try:
            async with Store(Session(pool, caller), embedder) as store:
                await notes(store, title=title, text="x" * 3_000)
        except ToolError:
            return False
        return True

    kept = await asyncio.gather(*(write(title) for title in "abcd"))
    assert caller.run_id is not None
    written = await notes_of(pool, caller.run_id)
    assert (sum(kept), len(written)) == (2, 2)
    assert size(written) <= BYTES_MAX


async def test_what_is_not_there_cannot_be_removed(store: Store) -> None:
    with pytest.raises(ToolError, match="no note"):
        await notes(store, title="plan", text="")


async def test_outside_of_a_run_there_are_no_notes_and_no_results(pool: Pool, embedder: Embedder) -> None:
    async with Store(Session(pool, Caller()), embedder) as store:
        with pytest.raises(ToolError, match="this is no run"):
            await notes(store, title="plan", text="x")
        with pytest.raises(ToolError, match="this is no run"):
            await read_result(store, call_id=str(new_id()))
