import pytest

from chiron_workers.evidence.confidence import calculate_confidence, explain
from chiron_workers.evidence.origins import Assertion
from chiron_workers.states import FactStatus


def says(url: str, score: float, *, is_verified: bool = True) -> Assertion:
    return Assertion(url, score, is_verified)


A, B, C = "https://a.example.org/page", "https://b.example.com/page", "https://c.example.net/page"


@pytest.mark.parametrize(
    ("supporting", "opposing", "value"),
    [
        ([says(A, 0.9)], [], 0.9),
        ([says(A, 0.9), says(B, 0.7)], [], 0.8),
        ([says(A, 0.9)], [says(B, 0.9)], 0.45),
        ([says(A, 0.9), says(B, 0.7)], [says(C, 0.3)], 2 * 0.8 / 3),
        ([says(A, 0.9), says(A.replace("page", "other"), 0.5)], [], 0.9),
        ([says(A, 0.9)], [says(B, 0.9, is_verified=False)], 0.9),
        ([says(A, 0.9), says(B, 0.1, is_verified=False)], [], 0.9),
        ([says(A, 0.9, is_verified=False)], [], 0.5),
        ([says(A, 0.3, is_verified=False)], [], 0.3),
        ([says(A, 0.9, is_verified=False), says(B, 0.7)], [], 0.7),
        ([], [says(B, 0.9)], 0.0),
    ],
)
def test_the_formula(supporting: list[Assertion], opposing: list[Assertion], value: float) -> None:
    assert calculate_confidence(supporting, opposing, unverified_max=0.5).value == pytest.approx(
        value, abs=1e-4
    )


def test_a_further_source_of_less_trust_does_not_hide_what_a_better_one_carries() -> None:
    found = calculate_confidence([says(A, 0.9), says(B, 0.4)], [], unverified_max=0.5)
    assert (found.value, found.best_value) == (0.65, 0.9)
    assert found.status(0.7) is FactStatus.ACCEPTED


def test_what_only_a_contradiction_keeps_below_the_threshold_is_disputed() -> None:
    against = [says(C, 0.5)]
    assert (
        calculate_confidence([says(A, 0.9)], against, unverified_max=0.5).status(0.7) is FactStatus.DISPUTED
    )
    assert (
        calculate_confidence([says(A, 0.7)], against, unverified_max=0.5).status(0.7) is FactStatus.CANDIDATE
    )
    unverified = [says(A, 0.9, is_verified=False)]
    assert calculate_confidence(unverified, against, unverified_max=0.5).status(0.7) is FactStatus.CANDIDATE


def test_the_sum_is_told_so_that_it_can_be_done_again() -> None:
    found = calculate_confidence([says(A, 0.9), says(B, 0.7)], [says(C, 0.3)], unverified_max=0.5)
    assert list(explain(found)) == [
        "2 independent origins x mean source score 0.80 / 3 assertions = 0.53",
        "for it: example.org (score 0.90)",
        "for it: example.com (score 0.70)",
        "against it: example.net (score 0.30)",
    ]
    unverified = calculate_confidence([says(A, 0.9, is_verified=False)], [], unverified_max=0.5)
    assert "held down to 0.50" in "\n".join(explain(unverified))
