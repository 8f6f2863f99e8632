"""Quizzes: one question after the other, each answer once, and nobody sees those of anybody else."""

import asyncio
from uuid import uuid4

import pytest
from psycopg import sql
from support.course import AsLearner, Course
from support.research_rows import Shelf

from chiron_workers.errors import Conflict, NotFound
from chiron_workers.knowledge.assessment.quizzes import Quiz
from chiron_workers.states import Mark, Marker


async def start(as_learner: AsLearner, owner: str = "ada", count: int = 3) -> Quiz:
    async with as_learner(owner) as store:
        return (await store.quizzes.start("sea-ice", None, count=count))[0]


async def answer(as_learner: AsLearner, quiz: Quiz, words: str, owner: str = "ada") -> Quiz:
    assert quiz.current is not None
    async with as_learner(owner) as store:
        return await store.quizzes.answer(quiz.id, quiz.current.id, words)


def count_of(shelf: Shelf, table: str) -> int:
    query = sql.SQL("select count(*) from {}").format(sql.Identifier(table))
    row = shelf.connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


async def test_a_quiz_asks_one_question_after_the_other_to_its_end(course: Course, as_learner: AsLearner):
    quiz = await start(as_learner)
    assert (quiz.number, quiz.questions, quiz.is_finished) == (1, 3, False)
    for words in ("190 cm", "their colour", "ice older than four years"):
        quiz = await answer(as_learner, quiz, words)
    assert quiz.is_finished
    marks = [(item.mark, item.marked_by) for item in quiz.answers]
    assert marks == [(Mark.RIGHT, Marker.RULE), (Mark.DOUBTFUL, None), (Mark.DOUBTFUL, None)]


async def test_a_quiz_that_was_left_goes_on_at_the_same_question(course: Course, as_learner: AsLearner):
    quiz = await answer(as_learner, await start(as_learner), "2 m")
    again = await start(as_learner)
    assert (again.id, again.number) == (quiz.id, 2)
    assert again.current == quiz.current


async def test_an_answer_that_is_sent_twice_counts_once_and_the_first_one_stays(
    course: Course, as_learner: AsLearner, shelf: Shelf
):
    quiz = await start(as_learner)
    after = await answer(as_learner, quiz, "2.4 m")
    again = await answer(as_learner, quiz, "1.9 m")
    assert [item.response for item in again.answers] == ["2.4 m"]
    assert again.number == after.number
    assert count_of(shelf, "assessments") == 1


async def test_an_answer_that_is_sent_twenty_times_at_the_same_moment_counts_once(
    course: Course, as_learner: AsLearner, shelf: Shelf
):
    quiz = await start(as_learner)
    quizzes = await asyncio.gather(*(answer(as_learner, quiz, f"{n + 1} m") for n in range(20)))
    assert len({item.answers[0].response for item in quizzes}) == 1
    assert count_of(shelf, "assessments") == 1
    assert count_of(shelf, "review_cards") == 1


async def test_two_starts_at_the_same_moment_are_one_quiz(course: Course, as_learner: AsLearner):
    quizzes = await asyncio.gather(*(start(as_learner) for _ in range(8)))
    assert len({quiz.id for quiz in quizzes}) == 1


async def test_learners_never_see_each_other(course: Course, as_learner: AsLearner):
    quiz = await answer(as_learner, await start(as_learner), "1.9 m")
    for owner in ("bob", "local"):
        async with as_learner(owner) as store:
            with pytest.raises(NotFound):
                await store.quizzes.get(quiz.id)
            with pytest.raises(NotFound):
                await store.quizzes.answer(quiz.id, quiz.answers[0].question.id, "1.9 m")
            with pytest.raises(NotFound):
                await store.quizzes.settle(quiz.id, quiz.answers[0].question.id, Mark.RIGHT)
            assert (await store.assessments.progress(course.node))["attempts"] == 0
            assert await store.assessments.history(course.node) == []
            assert await store.reviews.next_review(course.node) is None
    own = await start(as_learner, "bob")
    assert own.id != quiz.id
    assert own.answers == ()


async def test_a_doubtful_answer_moves_no_mastery_until_the_learner_settles_it(
    course: Course, as_learner: AsLearner
):
    quiz = await answer(as_learner, await start(as_learner), "2.4 m")
    quiz = await answer(as_learner, quiz, "how far it sticks out")
    async with as_learner("ada") as store:
        assert (await store.assessments.progress(course.node))["attempts"] == 1
    [doubtful] = quiz.doubtful
    async with as_learner("ada") as store:
        settled = await store.quizzes.settle(quiz.id, doubtful.question.id, Mark.RIGHT)
    assert settled.answers[1].mark is Mark.RIGHT
    assert settled.answers[1].marked_by is Marker.LEARNER
    assert "Rules cannot tell" in settled.answers[1].reason
    async with as_learner("ada") as store:
        progress = await store.assessments.progress(course.node)
        assert (progress["attempts"], progress["correct"]) == (2, 1)
        with pytest.raises(Conflict, match="marked right"):
            await store.quizzes.settle(quiz.id, doubtful.question.id, Mark.WRONG)


async def test_a_question_whose_fact_was_withdrawn_is_passed_over(
    course: Course, as_learner: AsLearner, shelf: Shelf
):
    quiz = await start(as_learner)
    withdrawal = "update facts set status = 'withdrawn' where id = any(%s)"
    shelf.connection.execute(withdrawal, [list(course.facts[:2])])
    async with as_learner("ada") as store:
        quiz = await store.quizzes.get(quiz.id)
    assert quiz.number == 3
    shelf.connection.execute(withdrawal, [list(course.facts)])
    with pytest.raises(Conflict, match="no questions"):
        await start(as_learner)


async def test_an_answer_out_of_its_turn_is_refused(course: Course, as_learner: AsLearner):
    quiz = await start(as_learner)
    async with as_learner("ada") as store:
        with pytest.raises(Conflict, match="another question"):
            await store.quizzes.answer(quiz.id, course.questions[2], "x")
        with pytest.raises(NotFound):
            await store.quizzes.answer(quiz.id, uuid4(), "x")


async def test_what_is_due_is_asked_before_what_is_new_and_what_was_just_answered_last(
    course: Course, as_learner: AsLearner, shelf: Shelf
):
    quiz = await start(as_learner)
    for words in ("1.9 m", "the freeboard of sea ice", ""):
        quiz = await answer(as_learner, quiz, words)
    hashes = [item.question.question_hash for item in quiz.answers]
    shelf.connection.execute("delete from review_cards where question_hash = %s", hashes[:1])
    past = "update review_cards set due_at = now() - interval '1 day' where question_hash = %s"
    shelf.connection.execute(past, hashes[1:2])
    async with as_learner("ada") as store:
        order = await store.questions.pick("sea-ice", course.node, limit=10)
    assert order == [course.questions[1], course.questions[0], course.questions[2]]
