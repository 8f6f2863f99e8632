import json
from uuid import UUID

import pytest

from chiron_api.text import as_json
from chiron_workers.batches.answers import PAGE_ROWS, Result, result_lines, results
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool
from chiron_workers.errors import NotFound
from chiron_workers.ids import new_id


async def read(pool: Pool, target: UUID) -> list[list[Result]]:
    return [page async for page in results(pool, target)]


async def batch(pool: Pool, count: int) -> tuple[UUID, list[UUID]]:
    runs = [NewRun(f"topic {n}", "research", "Physics", "offline", 20) for n in range(count)]
    found = await submit(pool, NewBatch(runs, "Physics"))
    return found.batch_id, found.run_ids


@pytest.mark.parametrize("count", [1, PAGE_ROWS, 2 * PAGE_ROWS + 1])
async def test_all_runs_of_a_batch_come_in_pages_in_the_order_of_their_topics(pool: Pool, count: int) -> None:
    await batch(pool, 3)
    batch_id, run_ids = await batch(pool, count)
    await batch(pool, 3)
    pages = await read(pool, batch_id)
    assert [one.id for page in pages for one in page] == run_ids
    assert max(len(page) for page in pages) <= PAGE_ROWS
    assert all(pages)


async def test_a_run_is_a_result_of_its_own(pool: Pool) -> None:
    batch_id, run_ids = await batch(pool, 2)
    async with pool.connection() as connection:
        await connection.execute(
            "update runs set state = 'completed', answer = 'So.', facts = 3 where id = %s", (run_ids[1],)
        )
    [[found]] = await read(pool, run_ids[1])
    assert (found.id, found.batch_id, found.topic, found.state, found.answer, found.facts) == (
        run_ids[1], batch_id, "topic 1", "completed", "So.", 3
    )  # fmt: skip


@pytest.mark.parametrize("count", [1, PAGE_ROWS, PAGE_ROWS + 1])
async def test_lines_of_json_say_what_the_results_say_and_reach_no_terminal_as_commands(
    pool: Pool, count: int
) -> None:
    batch_id, run_ids = await batch(pool, count)
    answer = 'Über "Eis": 90 %\\ of it\n\x1b[2J\x9b2J\u202e floats 🧊.'
    query = """
      update runs
         set state = 'completed', answer = %s, spent_usd = 1.25, facts = 3, finished_at = '2026-01-02T12:00:00Z'
       where id = %s"""
    async with pool.connection() as connection:
        await connection.execute(query, (answer, run_ids[-1]))
        await connection.execute(
            "update runs set state = 'failed', error = %s where id = %s",
            ('{"kind": "bug", "message": "Wrong."}', run_ids[0]),
        )
    lines = "".join([page async for page in result_lines(pool, batch_id)]).splitlines()
    assert all(line.isascii() and line.isprintable() for line in lines)
    expected = [json.loads(as_json(result)) for page in await read(pool, batch_id) for result in page]
    assert [json.loads(line) for line in lines] == expected
    assert count == 1 or expected[-1]["answer"] == answer
    with pytest.raises(NotFound):
        await anext(result_lines(pool, new_id()))


async def test_what_ends_while_somebody_reads_is_neither_left_out_nor_doubled(pool: Pool) -> None:
    batch_id, run_ids = await batch(pool, PAGE_ROWS + 50)
    read_so_far: list[UUID] = []
    async for page in results(pool, batch_id):
        read_so_far += [one.id for one in page]
        async with pool.connection() as connection:
            await connection.execute(
                "update runs set state = 'completed', answer = 'So.' where batch_id = %s", (batch_id,)
            )
    assert read_so_far == run_ids


async def test_what_does_not_exist_is_not_found(pool: Pool) -> None:
    with pytest.raises(NotFound):
        await read(pool, new_id())
