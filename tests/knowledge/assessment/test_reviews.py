"""Reviews: due times are those of the library, whatever order answers are settled in."""

import random
from datetime import UTC, datetime, timedelta

import fsrs
from support.course import AsLearner, Course

from chiron_workers.knowledge.assessment.reviews import Answered

SEED = 20261125


async def test_due_times_are_those_that_the_library_computes_itself(course: Course, as_learner: AsLearner):
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    scheduler = fsrs.Scheduler(enable_fuzzing=False)
    for n in range(10):
        card, at = fsrs.Card(n + 1), datetime(2026, 1, 1, tzinfo=UTC)
        for _ in range(8):
            is_right = chance.random() < 0.8
            rating = fsrs.Rating.Good if is_right else fsrs.Rating.Again
            card, _ = scheduler.review_card(card, rating, at)
            async with as_learner("ada") as store:
                due = await store.reviews.schedule(
                    Answered("ada", course.node, f"q{n}", is_right=is_right, at=at)
                )
            assert due == card.due
            at = max(at, card.due + timedelta(hours=chance.randrange(-5, 60)))


async def test_an_answer_that_is_settled_after_a_later_one_does_not_turn_time_back(
    course: Course, as_learner: AsLearner
):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    dues = []
    for at in (now, now - timedelta(days=3)):
        async with as_learner("ada") as store:
            dues.append(await store.reviews.schedule(Answered("ada", course.node, "q", is_right=True, at=at)))
    assert dues[0] <= dues[1]


async def test_a_node_is_due_when_the_first_of_its_questions_is(course: Course, as_learner: AsLearner):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    dues = []
    for name, is_right in (("a", True), ("b", False)):
        async with as_learner("ada") as store:
            answered = Answered("ada", course.node, name, is_right=is_right, at=at)
            dues.append(await store.reviews.schedule(answered))
    async with as_learner("ada") as store:
        assert await store.reviews.next_review(course.node) == min(dues)
