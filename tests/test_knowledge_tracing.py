import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.knowledge.coverage.assessments import MASTERED, mastery


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
    assert mastery([True] * 2) < MASTERED <= mastery([True] * 3)


@given(st.lists(st.booleans(), max_size=60))
def test_a_right_answer_never_says_less_than_a_wrong_one(answers: list[bool]) -> None:
    assert 0 <= mastery([*answers, False]) < mastery([*answers, True]) <= 1
