import json
from datetime import UTC, datetime, timedelta

import pytest

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.ids import new_id
from chiron_workers.runs import events
from chiron_workers.runs.events import Event, heads, read_page
from chiron_workers.states import EventKind

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


async def batch_of(pool, count: int):
    return await submit(
        pool, NewBatch([NewRun(f"t{n}", "research", "Tests", "offline", 9) for n in range(count)], "Tests")
    )


async def add(pool, batch_id, run_id, seqs, *, at=lambda seq: NOON + timedelta(seconds=seq)):
    async with pool.connection() as connection:
        for seq in seqs:
            await connection.execute(
                "insert into events (run_id, seq, batch_id, kind, data, at) values (%s, %s, %s, 'tool.called', '{}', %s)",
                (run_id, seq, batch_id, at(seq)),
            )
        await connection.execute("update runs set seq = %s where id = %s", (seqs[-1], run_id))


def test_an_event_goes_through_json_unchanged():
    event = Event(new_id(), new_id(), 3, EventKind.FACT_STORED, NOON, {"content": "Größe ≠ Maß\x1b[31m"})
    text = event.to_json()
    assert Event.from_json(text) == event
    assert list(json.loads(text)) == ["batch_id", "run_id", "seq", "kind", "at", "data"]
    assert text.isascii()
    assert text.isprintable()


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", '{"batch_id": 3}', b"\xff"])
def test_what_is_no_event_is_refused(text):
    with pytest.raises((ValueError, KeyError, TypeError)):
        Event.from_json(text)


async def test_heads_say_how_far_each_run_has_come(pool):
    found = await batch_of(pool, 2)
    await add(pool, found.batch_id, found.run_ids[0], range(2, 6))
    head = await heads(pool, batch_id=found.batch_id)
    assert head.seqs == {found.run_ids[0]: 5, found.run_ids[1]: 1}
    assert not head.is_over
    assert (await heads(pool, run_id=found.run_ids[0])).seqs == {found.run_ids[0]: 5}
    assert (await heads(pool, run_id=new_id())).seqs == {}


async def test_pages_cover_every_run_without_a_gap(pool, monkeypatch):
    monkeypatch.setattr(events, "PAGE_ROWS", 6)
    found = await batch_of(pool, 2)
    for run_id in found.run_ids:
        await add(pool, found.batch_id, run_id, range(2, 9))
    after = dict.fromkeys(found.run_ids, 1)
    pages = []
    while page := await read_page(pool, after):
        pages.append(len(page))
        for event in page:
            assert event.seq == after[event.run_id] + 1
            after[event.run_id] = event.seq
    assert pages == [6, 6, 2]


async def test_a_clock_that_was_set_back_does_not_change_the_order_of_a_run(pool):
    found = await batch_of(pool, 1)
    await add(
        pool, found.batch_id, found.run_ids[0], range(2, 9), at=lambda seq: NOON - timedelta(seconds=seq)
    )
    assert [event.seq for event in await read_page(pool, {found.run_ids[0]: 0})] == list(range(1, 9))
