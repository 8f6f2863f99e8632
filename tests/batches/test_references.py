"""What people write for an id."""

import random
from uuid import UUID

import pytest

from chiron_workers.batches.delete import delete
from chiron_workers.batches.references import Referent, id_of, is_reference, named, run_numbers, short_ids
from chiron_workers.batches.steering import cancel, retry
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.ids import new_id
from chiron_workers.states import BatchKind

MODEL = "claude-opus-5-5"


async def batch(
    pool: Pool, name: str = "", *, runs: int = 1, kind: BatchKind = BatchKind.RESEARCH
) -> tuple[UUID, list[UUID]]:
    new = [NewRun(f"topic {n}", "research", "Physics", MODEL, 50) for n in range(runs)]
    submission = await submit(pool, NewBatch(new, "Physics", name=name, kind=kind))
    return submission.batch_id, submission.run_ids


async def test_a_whole_id_means_itself_whether_it_is_there_or_not(pool: Pool) -> None:
    id_ = new_id()
    for text in (str(id_), f" {id_} ", str(id_).upper(), id_.hex):
        assert await id_of(pool, text) == id_


async def test_every_beginning_means_the_one_id_that_begins_so(pool: Pool) -> None:
    batch_id, run_ids = await batch(pool, runs=20)
    for id_, short in (await short_ids(pool, [batch_id, *run_ids])).items():
        assert len(short) >= 8
        assert str(id_).startswith(short)
        for text in (short, short.replace("-", ""), short.upper(), str(id_)[: len(short) + 1]):
            assert await id_of(pool, text) == id_


async def test_a_short_id_is_no_longer_than_it_must_be(pool: Pool, chance: random.Random) -> None:
    batch_id, _ = await batch(pool, runs=1)
    similar = [batch_id.int ^ (1 << chance.randrange(120)) for _ in range(8)]
    async with pool.connection() as connection:
        for number in set(similar):
            await connection.execute(
                "insert into batches"
                " select (jsonb_populate_record(b, jsonb_build_object('id', %s::text))).* from batches b where id = %s",
                [UUID(int=number), batch_id],
            )
    ids = [row[0] for row in await rows(pool, "select id from batches")]
    every = [str(row[0]) for row in await rows(pool, "select id from batches union all select id from runs")]
    for id_, short in (await short_ids(pool, ids)).items():
        assert [text for text in every if text.startswith(short)] == [str(id_)]
        shorter = short[:-1].rstrip("-")
        assert len(short) == 8 or sum(text.startswith(shorter) for text in every) > 1


async def rows(pool: Pool, query: str) -> list[tuple[UUID]]:
    async with pool.connection() as connection:
        return [(row["id"],) for row in await (await connection.execute(query)).fetchall()]


async def test_what_begins_several_ids_is_refused_with_examples(pool: Pool) -> None:
    _, (first, second) = await batch(pool, runs=2)
    with pytest.raises(UsageError, match=r"means several ids, such as .* give more") as refusal:
        await id_of(pool, str(first)[:8])
    assert str(first)[:8] in str(refusal.value)
    assert str(second)[:8] == str(first)[:8]


async def test_last_is_the_newest_batch(pool: Pool) -> None:
    with pytest.raises(NotFound, match="There is no batch of topics yet"):
        await id_of(pool, "last")
    await batch(pool)
    newest, _ = await batch(pool)
    assert await id_of(pool, "last") == newest


async def test_last_is_not_a_webhook(pool: Pool) -> None:
    with pytest.raises(UsageError, match="'last' is no id of a webhook"):
        await id_of(pool, "last", Referent.WEBHOOK)


async def test_last_is_no_batch_of_a_report_a_check_learning_or_a_subscription(pool: Pool) -> None:
    newest, _ = await batch(pool)
    for kind in set(BatchKind) - {BatchKind.RESEARCH}:
        await batch(pool, kind=kind)
    other_id, _ = await batch(pool)
    async with pool.connection() as connection:
        await connection.execute(
            "update batches set subscription_id = gen_random_uuid() where id = %s", [other_id]
        )
    assert await id_of(pool, "last") == newest


async def test_a_run_is_named_by_its_number_behind_its_batch(pool: Pool) -> None:
    batch_id, run_ids = await batch(pool, "Lakes week 1", runs=12)
    short = (await short_ids(pool, [batch_id]))[batch_id]
    for text in (f"{batch_id}#3", f"{short}#3", "last#3", "Lakes week 1#3", " Lakes week 1 #3 "):
        assert await id_of(pool, text) == run_ids[2]
    assert await id_of(pool, "last#12") == run_ids[11]
    assert await named(pool, "Lakes week 1#3") == run_ids[2]


async def test_a_batch_of_exactly_that_name_wins(pool: Pool) -> None:
    await batch(pool, "tides", runs=3)
    namesake, _ = await batch(pool, "tides#2")
    last, _ = await batch(pool, "last#1")
    assert await id_of(pool, "tides#2") == await named(pool, "tides#2") == namesake
    assert await id_of(pool, "last#1") == last


async def test_a_number_behind_a_whole_id_names_its_run_whatever_batches_are_called(pool: Pool) -> None:
    batch_id, run_ids = await batch(pool)
    await batch(pool, f"{batch_id}#1")
    for text in (f"{batch_id}#1", f" {batch_id.hex.upper()}#1"):
        assert await id_of(pool, text) == run_ids[0]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("last#4", NotFound, "Batch last has no run #4; its last one is #3."),
        ("last#2", NotFound, "Run #2 of batch last was deleted."),
        ("last#0", UsageError, "its number goes after the batch and counts from 1"),
        ("waves#1", UsageError, "'waves' is no id and no name of a batch"),
        ("ffff#1", NotFound, "No id begins with ffff"),
    ],
)
async def test_a_number_that_no_run_has_is_told_as_such(
    pool: Pool, text: str, error: type[Exception], words: str
) -> None:
    _, run_ids = await batch(pool, runs=3)
    async with pool.connection() as connection:
        await connection.execute("update runs set state = 'completed'")
        await connection.execute("delete from runs where id = %s", [run_ids[1]])
    with pytest.raises(error, match=words):
        await id_of(pool, text)


async def test_a_number_behind_a_run_is_refused(pool: Pool) -> None:
    _, run_ids = await batch(pool)
    with pytest.raises(UsageError, match=r"is a run; #1 goes after a batch, such as last#1\."):
        await id_of(pool, f"{run_ids[0]}#1")


async def test_numbers_stay_when_runs_are_deleted_and_tried_again(pool: Pool) -> None:
    batch_id, run_ids = await batch(pool, runs=4)
    await cancel(pool, batch_id)
    await delete(pool, run_ids[0])
    await retry(pool, run_ids[2], from_scratch=True)
    assert await run_numbers(pool, batch_id) == {run_ids[1]: 2, run_ids[2]: 3, run_ids[3]: 4}
    assert await id_of(pool, "last#4") == run_ids[3]


async def test_a_batch_may_be_named(pool: Pool) -> None:
    tides, _ = await batch(pool, "spring tides")
    await batch(pool, "waves")
    await batch(pool, "waves")
    assert await id_of(pool, "spring tides") == tides
    with pytest.raises(UsageError, match="'waves' means several ids"):
        await id_of(pool, "waves")
    with pytest.raises(UsageError, match="'wave' is no id and no name of a batch"):
        await id_of(pool, "wave")
    with pytest.raises(UsageError, match="is no id"):
        await id_of(pool, "spring tides", Referent.SUBSCRIPTION)


async def test_a_beginning_of_nothing_is_not_found(pool: Pool) -> None:
    await batch(pool)
    with pytest.raises(NotFound, match="No id begins with ffff"):
        await id_of(pool, "ffff")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last", True),
        ("last#3", True),
        ("0198", True),
        ("0198#3", True),
        ("0198c0de-7a", True),
        ("tides", False),
        ("tides#3", False),
        ("abc", False),
        ("", False),
    ],
)
def test_what_can_only_be_an_id(text: str, expected: bool) -> None:
    assert is_reference(text) is expected
