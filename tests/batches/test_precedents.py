"""What there was before a batch: new subjects, topics that occur twice or were answered, and similar ones."""

import threading
import time
from collections.abc import Sequence

import pytest

from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches import precedents as precedents_module
from chiron_workers.batches.precedents import Precedents, SimilarSubject, precedents_of
from chiron_workers.batches.submit import NewBatch, NewRun, Submitted, submit
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope

MODEL = "claude-opus-5-5"
DEPTH = "How deep is Lake Baikal?"


def new_batch(topics: Sequence[str], subject: str = "Lakes", **options: object) -> NewBatch:
    runs = [NewRun(topic, "research", subject, MODEL, 50, **options) for topic in topics]  # type: ignore[arg-type]
    return NewBatch(runs, subject, "Lakes week 1")


async def answer(pool: Pool, *topics: str, principal: Principal = LOCAL, **options: object) -> Submitted:
    """A batch whose runs have completed."""
    batch = await submit(pool, new_batch(topics, **options), principal=principal)
    async with pool.connection() as connection:
        await connection.execute(
            "update runs set state = 'completed', finished_at = now() where batch_id = %s", [batch.batch_id]
        )
    return batch


async def test_the_first_subject_of_all_is_new_and_doubtful_to_nobody(pool: Pool) -> None:
    precedents = await precedents_of(pool, new_batch([DEPTH]))
    assert [subject.subject_id for subject in precedents.new_subjects] == ["lakes"]
    assert not precedents.is_doubtful
    assert precedents.notes() == ["lakes is a new subject, with 0 documents."]


async def test_a_new_subject_names_similar_ones_with_their_documents(pool: Pool) -> None:
    for subject in ("Lakes", "Volcanoes"):
        await submit(pool, new_batch([DEPTH], subject))
    async with pool.connection() as connection:
        await connection.execute(
            "insert into snapshots (hash, body, chars, content_type) values ('h', '', 0, 'text/plain');"
            "insert into documents (id, subject_id, url, title, hash, passages)"
            " values (gen_random_uuid(), 'lakes', 'corpus://lakes/a', 'a', 'h', 1)"
        )
    precedents = await precedents_of(pool, new_batch([DEPTH], "Lake"))
    assert precedents.is_doubtful
    assert precedents.new_subjects[0].similar == (SimilarSubject("lakes", 1),)
    assert precedents.notes() == ["lake is a new subject, with 0 documents. Similar: lakes (1 document)."]
    assert await precedents_of(pool, new_batch([DEPTH], "LAKES")) == Precedents()


@pytest.mark.parametrize("topic", [DEPTH, "how deep is  lake baikal", "How deep is Lake Baikal?!"])
async def test_a_topic_that_was_answered_before_names_the_run(pool: Pool, topic: str) -> None:
    earlier = await answer(pool, "Where is Lake Como?", DEPTH)
    precedents = await precedents_of(pool, new_batch(["What is ice?", topic]))
    [entry] = precedents.earlier_answers
    assert (entry.number, entry.run_id, entry.run_number) == (2, earlier.run_ids[1], 2)
    assert precedents.is_doubtful
    assert precedents.warnings()[0].startswith(
        f"Topic 2, “{' '.join(topic.split())}”, was answered before: run #2 of “Lakes"
    )


async def test_another_subject_role_context_owner_or_an_open_run_is_no_answer(pool: Pool) -> None:
    await answer(pool, DEPTH, subject="Seas")
    await answer(pool, DEPTH, context="In winter.")
    await answer(pool, DEPTH, principal=Principal("anna", AccessScope.SUBMIT))
    await submit(pool, new_batch([DEPTH]))
    assert (await precedents_of(pool, new_batch([DEPTH]), owner="local")).earlier_answers == ()
    assert len((await precedents_of(pool, new_batch([DEPTH]))).earlier_answers) == 1
    [winter] = (await precedents_of(pool, new_batch([DEPTH], context="In winter."))).earlier_answers
    assert winter.earlier_topic == DEPTH


async def test_a_similar_topic_is_suggested_and_doubtful_to_nobody(pool: Pool) -> None:
    earlier = await answer(pool, "How deep is the Lake Baikal in Siberia?", "Population of Oslo in 2023")
    precedents = await precedents_of(
        pool, new_batch(["How deep is Lake Baikal in Siberia today?", "Population of Oslo in 2024", "Ice"])
    )
    assert [(entry.number, entry.run_id) for entry in precedents.similar_answers] == [(1, earlier.run_ids[0])]
    assert not precedents.is_doubtful
    assert "is similar to “How deep is the Lake Baikal in Siberia?”" in precedents.warnings()[0]


async def test_topics_that_occur_twice_are_named_with_their_numbers(pool: Pool) -> None:
    await submit(pool, new_batch(["Ice"]))
    precedents = await precedents_of(pool, new_batch(["Snow", "Ice", "snow."]))
    assert [(entry.topic, entry.numbers) for entry in precedents.repetitions] == [("Snow", (1, 3))]
    assert precedents.is_doubtful


async def test_of_too_many_topics_the_first_are_compared_and_the_rest_is_told(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precedents_module, "TOPICS_MAX", 2)
    await answer(pool, "Ice", "Rain", "Snow")
    precedents = await precedents_of(pool, new_batch(["Fog", "Ice", "Rain", "Snow"]))
    assert (precedents.answered_count, precedents.left_out) == (1, 2)
    assert precedents.warnings()[-1].startswith("2 topics beyond the first 2 were not compared")


async def test_many_answered_topics_are_counted_and_the_first_are_listed(pool: Pool) -> None:
    topics = [f"Lake number {number}" for number in range(150)]
    await answer(pool, *topics)
    precedents = await precedents_of(pool, new_batch(topics))
    assert (precedents.answered_count, len(precedents.earlier_answers)) == (150, 100)
    assert precedents.warnings()[-1] == "140 more topics were answered before."


async def test_topics_are_compared_by_their_words_beside_the_event_loop(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set()

    def note_thread(words: frozenset[str]) -> set[str]:
        threads.add(threading.get_ident())
        return {word for word in words if word.isdecimal()}

    monkeypatch.setattr(precedents_module, "_numbers", note_thread)
    await answer(pool, "How deep is the Lake Baikal in Siberia?")
    await precedents_of(pool, new_batch(["How deep is Lake Baikal in Siberia today?"]))
    assert threads and threading.get_ident() not in threads


async def test_a_topic_of_pages_is_compared_with_nothing(pool: Pool) -> None:
    topic = "How deep is Lake Baikal in Siberia, and how deep are the lakes around it? " * 10
    await answer(pool, topic)
    precedents = await precedents_of(pool, new_batch([f"{topic} And today?"]))
    assert precedents.similar_answers == ()
    assert len((await precedents_of(pool, new_batch([topic]))).earlier_answers) == 1


async def test_a_new_subject_is_compared_with_ten_thousand_in_a_moment(pool: Pool) -> None:
    async with pool.connection() as connection:
        await connection.execute(
            "insert into subjects (id, title) select repeat('a', 90) || n, 'A' from generate_series(1, 10000) n"
        )
    before = time.monotonic()
    precedents = await precedents_of(pool, new_batch([DEPTH], "a" * 100))
    assert len(precedents.new_subjects[0].similar) == 3
    assert time.monotonic() - before < 10  # difflib takes 24 s of CPU
