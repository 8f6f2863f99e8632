import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.db.connect import Pool
from chiron_workers.errors import ToolValidationError
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.assessments import (
    GUESS,
    LEARNING_RATE,
    MASTERY_MIN,
    SLIP,
    Assessments,
    mastery,
)
from chiron_workers.knowledge.coverage.nodes import Nodes, draft
from chiron_workers.runs.session import Caller, Session


@pytest.fixture
async def node(pool: Pool) -> str:
    async with Session(pool) as session:
        made = draft(subject_id="moon", title="Phases", description="Names the phases.")
        return (await Nodes(session).save(made))["node_id"]


async def answer(pool: Pool, node: str, answers: str, *, owner: str = "local", question: str = "q1") -> None:
    async with Session(pool, Caller(owner=owner)) as session:
        node_id = await Nodes(session).require(node)
        for right in answers:
            await Assessments(session).add(
                node_id, question_hash=question, response="waxing", correct=right == "+", lesson_id=None
            )


async def test_mastery_is_computed_from_every_answer_in_order(pool: Pool, node: str) -> None:
    await answer(pool, node, "-")
    await answer(pool, node, "+")
    session = Session(pool)
    progress = await Assessments(session).progress(await Nodes(session).require(node))
    assert (progress["attempts"], progress["correct"], progress["mastery"]) == (2, 1, 0.5662)
    assert progress["mastered"] is False
    assert (progress["last_answered_at"] or "").startswith("20")


async def test_each_learner_has_progress_of_their_own(pool: Pool, node: str) -> None:
    await answer(pool, node, "+++", owner="ada")
    await answer(pool, node, "-", owner="bob")
    found = {}
    for owner in ("ada", "bob", "eve"):
        session = Session(pool, Caller(owner=owner))
        found[owner] = await Assessments(session).progress(await Nodes(session).require(node))
    assert {owner: (one["attempts"], one["mastered"]) for owner, one in found.items()} == {
        "ada": (3, True),
        "bob": (1, False),
        "eve": (0, False),
    }
    assert found["eve"]["last_answered_at"] is None


async def test_questions_are_listed_with_their_answers_the_latest_first(pool: Pool, node: str) -> None:
    await answer(pool, node, "-+", question="first")
    await answer(pool, node, "-", question="second")
    session = Session(pool)
    assert await Assessments(session).questions(await Nodes(session).require(node)) == [
        {"question_hash": "second", "attempts": 1, "correct": 0, "last_correct": False},
        {"question_hash": "first", "attempts": 2, "correct": 1, "last_correct": True},
    ]


async def test_a_blank_response_is_an_answer_and_a_blank_question_is_none(pool: Pool, node: str) -> None:
    async with Session(pool) as session:
        node_id = await Nodes(session).require(node)
        await Assessments(session).add(
            node_id, question_hash="q", response=" ", correct=False, lesson_id=None
        )
        with pytest.raises(ToolValidationError, match="question_hash: must not be empty"):
            await Assessments(session).add(
                node_id, question_hash=" ", response="x", correct=False, lesson_id=None
            )


@pytest.mark.parametrize("node_id", ["", "phases", str(new_id())], ids=["empty", "no id", "unknown"])
async def test_a_node_that_is_not_there_is_refused_by_name(pool: Pool, node_id: str) -> None:
    with pytest.raises(ToolValidationError, match=r"^node_id: ") as caught:
        await Nodes(Session(pool)).require(node_id)
    assert caught.value.field == "node_id"


# Computed by hand from the formulas in the docstring of `mastery`.
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], 0.2),
        ([True], 0.6),
        ([True, True], 0.890323),
        ([True, True, True], 0.977351),
        ([False], 0.175758),
        ([False, True], 0.566229),
        ([True, False], 0.284211),
    ],
)
def test_mastery_follows_the_published_formulas(answers: list[bool], expected: float) -> None:
    assert mastery(answers) == pytest.approx(expected, abs=1e-6)


def test_a_beginner_is_a_master_after_three_right_answers_and_not_after_two() -> None:
    assert mastery([True] * 2) < MASTERY_MIN <= mastery([True] * 3)


@given(st.lists(st.booleans(), max_size=60))
def test_a_right_answer_never_says_less_than_a_wrong_one(answers: list[bool]) -> None:
    assert 0 <= mastery([*answers, False]) < mastery([*answers, True]) <= 1


SIMULATION_SEED = 20261125


@pytest.mark.parametrize("rate", [LEARNING_RATE, 0.2, 0.3, 0.5])
@pytest.mark.parametrize(("guess", "slip"), [(GUESS, SLIP), (0.1, 0.05), (0.25, 0.1), (0.3, 0.1)])
@pytest.mark.parametrize("skill", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_after_ten_answers_of_simulated_learners_mastery_is_within_a_tenth_of_the_truth_at_the_median(
    skill: float, guess: float, slip: float, rate: float
) -> None:
    chance = random.Random(SIMULATION_SEED)
    learner = SimulatedLearner(skill, guess, slip, rate)
    errors = sorted(simulated_error(chance, learner) for _ in range(1_000))
    print(f"seed {SIMULATION_SEED}, {learner}: median {errors[500]:.3f}")
    assert errors[500] <= 0.1


def test_it_is_so_where_no_two_learners_learn_guess_and_slip_alike() -> None:
    chance = random.Random(SIMULATION_SEED)
    learners = [
        SimulatedLearner(
            chance.random(), chance.uniform(0.05, 0.3), chance.uniform(0.02, 0.1), chance.uniform(0, 0.4)
        )
        for _ in range(4_000)
    ]
    errors = sorted(simulated_error(chance, learner) for learner in learners)
    print(f"seed {SIMULATION_SEED}: median {errors[2_000]:.3f}")
    assert errors[2_000] <= 0.1


@pytest.mark.parametrize(("skill", "rate"), [(0.2, 0.1), (0.5, 0.02), (0.8, 0.02), (1.0, 0.0)])
def test_it_is_so_of_slow_learners_where_more_than_half_of_them_know_it_in_the_end(
    skill: float, rate: float
) -> None:
    chance = random.Random(SIMULATION_SEED)
    learner = SimulatedLearner(skill, GUESS, SLIP, rate)
    assert sorted(simulated_error(chance, learner) for _ in range(1_000))[500] <= 0.1


@pytest.mark.parametrize("guess", [0.1, GUESS, 0.3])
def test_whoever_knows_nothing_and_learns_nothing_is_seldom_a_master_and_never_below_the_rate_of_learning(
    guess: float,
) -> None:
    """The model takes each answer for practice, so mastery stays above 0.15: here it is further off than a tenth."""
    chance = random.Random(SIMULATION_SEED)
    learner = SimulatedLearner(skill=0, guess=guess, slip=SLIP, rate=0)
    errors = sorted(simulated_error(chance, learner) for _ in range(1_000))
    masters = sum(error >= MASTERY_MIN for error in errors)
    print(f"seed {SIMULATION_SEED}, guess {guess}: median {errors[500]:.3f}, {masters} of 1,000 masters")
    assert LEARNING_RATE < errors[0] <= errors[500] <= 0.3
    assert masters <= 100


@dataclass(frozen=True)
class SimulatedLearner:
    """Knows the matter at first with the probability `skill`, and learns it after an answer with that of `rate`."""

    skill: float
    guess: float
    slip: float
    rate: float


def simulated_error(chance: random.Random, learner: SimulatedLearner) -> float:
    """How far the mastery is off after ten answers of a learner."""
    knows, answers = chance.random() < learner.skill, []
    for _ in range(10):
        answers.append(chance.random() < (1 - learner.slip if knows else learner.guess))
        knows = knows or chance.random() < learner.rate
    return abs(mastery(answers) - knows)
