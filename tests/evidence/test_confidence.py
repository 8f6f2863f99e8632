from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.evidence.confidence import Confidence, calculate_confidence, explain
from chiron_workers.evidence.origins import Assertion
from chiron_workers.states import FactStatus

ACCEPTED, DISPUTED, CANDIDATE = FactStatus.ACCEPTED, FactStatus.DISPUTED, FactStatus.CANDIDATE
ORDER = [CANDIDATE, DISPUTED, ACCEPTED]
THRESHOLD = 0.7


def says(url: str, score: float, *, is_verified: bool = True) -> Assertion:
    return Assertion(url, score, is_verified)


A, B, C = "https://a.example.org/page", "https://b.example.com/page", "https://c.example.net/page"


def weigh(supporting: list[Assertion], opposing: list[Assertion]) -> Confidence:
    return calculate_confidence(supporting, opposing, unverified_max=0.5)


def sides(support: list[float], opposition: list[float]) -> Confidence:
    """Independent origins of these scores for and against a fact."""
    return weigh(
        [says(f"https://for{n}.org/", score) for n, score in enumerate(support)],
        [says(f"https://against{n}.org/", score) for n, score in enumerate(opposition)],
    )


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
    assert weigh(supporting, opposing).value == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize(
    ("support", "opposition", "status", "opposite_status"),
    [
        ([0.6] * 10, [], ACCEPTED, CANDIDATE),
        ([0.6, 0.6], [], ACCEPTED, CANDIDATE),
        ([0.6], [], CANDIDATE, CANDIDATE),
        ([0.7], [], CANDIDATE, CANDIDATE),
        ([0.9, 0.4], [], ACCEPTED, CANDIDATE),
        ([0.95], [0.2], ACCEPTED, CANDIDATE),
        ([0.95], [0.4], ACCEPTED, CANDIDATE),
        ([0.8], [0.2], ACCEPTED, CANDIDATE),
        ([0.9], [0.9], DISPUTED, DISPUTED),
        ([0.9], [0.8], DISPUTED, DISPUTED),
        ([1.0], [0.9], DISPUTED, DISPUTED),
        ([0.95], [0.85], DISPUTED, DISPUTED),
        ([0.9, 0.9], [0.85], ACCEPTED, DISPUTED),
        ([0.6] * 10, [0.75], ACCEPTED, DISPUTED),
        ([0.6] * 10, [0.6] * 10, DISPUTED, DISPUTED),
        ([0.9] * 100, [0.95] * 100, DISPUTED, ACCEPTED),
        ([0.75], [0.9, 0.9, 0.9], DISPUTED, ACCEPTED),
        ([0.6], [0.95], CANDIDATE, ACCEPTED),
    ],
)
def test_what_stands_for_and_against_a_fact_decides_whether_it_is_shown(
    support: list[float], opposition: list[float], status: FactStatus, opposite_status: FactStatus
) -> None:
    assert sides(support, opposition).status(THRESHOLD) is status
    assert sides(opposition, support).status(THRESHOLD) is opposite_status


def test_each_weight_is_the_chance_that_one_of_its_independent_origins_is_right() -> None:
    confidence = sides([0.6, 0.5], [0.2])
    weights = confidence.weight_for, confidence.weight_against, confidence.weight_left
    assert weights == pytest.approx((1 - 0.4 * 0.5, 0.2, 1 - 0.4 * 0.5 / 0.8))


def test_pages_of_one_site_add_no_weight() -> None:
    pages = [says(f"https://blog{n}.example.org/", 0.6) for n in range(10)]
    assert weigh(pages, []).status(THRESHOLD) is CANDIDATE
    assert (
        weigh([says(A, 0.95)], [says(f"https://b.com/{n}", 0.2) for n in range(10)]).status(0.7) is ACCEPTED
    )


def test_a_site_of_very_many_pages_pushes_no_other_origin_out() -> None:
    pages = [says(f"https://a.org/{n}", 0.6) for n in range(500)]
    assert weigh([*pages, says(B, 0.5)], []).weight_for == pytest.approx(1 - 0.4 * 0.5)


def test_what_has_no_verified_quote_stays_a_candidate_whatever_stands_for_it() -> None:
    unverified = [says(f"https://site{n}.org/", 0.9, is_verified=False) for n in range(10)]
    confidence = weigh(unverified, [])
    assert (confidence.weight_for, confidence.status(THRESHOLD)) == (0.5, CANDIDATE)
    assert weigh([says(A, 0.9)], unverified).status(THRESHOLD) is ACCEPTED
    assert weigh(unverified, [says(A, 0.9)]).status(THRESHOLD) is CANDIDATE


scores = st.floats(0, 1, allow_nan=False)
evidence = st.lists(st.tuples(scores, st.booleans()), max_size=6)


def origins(side: str, entries: list[tuple[float, bool]]) -> list[Assertion]:
    return [
        says(f"https://{side}{n}.org/", score, is_verified=is_verified)
        for n, (score, is_verified) in enumerate(entries)
    ]


@given(
    support=evidence,
    opposition=evidence,
    further=st.tuples(scores, st.booleans()),
    threshold=scores,
    unverified_max=scores,
)
def test_a_further_origin_never_counts_for_the_other_side(
    support: list[tuple[float, bool]],
    opposition: list[tuple[float, bool]],
    further: tuple[float, bool],
    threshold: float,
    unverified_max: float,
) -> None:
    before, with_support, with_opposition = (
        calculate_confidence(origins("a", ours), origins("b", theirs), unverified_max=unverified_max)
        for ours, theirs in (
            (support, opposition),
            ([*support, further], opposition),
            (support, [*opposition, further]),
        )
    )
    assert with_opposition.weight_left <= before.weight_left <= with_support.weight_left
    ranks = [
        ORDER.index(confidence.status(threshold)) for confidence in (with_opposition, before, with_support)
    ]
    assert ranks == sorted(ranks)


@given(first=st.lists(scores, max_size=6), second=st.lists(scores, max_size=6), threshold=scores)
def test_of_two_facts_that_contradict_each_other_one_at_most_is_accepted(
    first: list[float], second: list[float], threshold: float
) -> None:
    statuses = [sides(first, second).status(threshold), sides(second, first).status(threshold)]
    assert statuses != [ACCEPTED, ACCEPTED]
    equal = [sides(first, first).status(threshold), sides(first, first[::-1]).status(threshold)]
    assert equal in [[DISPUTED, DISPUTED], [CANDIDATE, CANDIDATE]]


def test_every_sum_is_finite_and_a_share() -> None:
    for count, other_count, score, other_score in product((0, 1, 200), (0, 1, 200), (0.0, 1.0), (0.0, 1.0)):
        confidence = sides([score] * count, [other_score] * other_count)
        for share in (
            confidence.value,
            confidence.weight_for,
            confidence.weight_against,
            confidence.weight_left,
        ):
            assert 0 <= share <= 1


def test_both_sums_are_told_so_that_they_can_be_done_again() -> None:
    confidence = weigh([says(A, 0.9), says(B, 0.7)], [says(C, 0.3)])
    assert list(explain(confidence, threshold=0.7)) == [
        "confidence: 2 independent origins x mean source score 0.80 / 3 assertions = 0.53",
        "for it: example.org, of unknown kind (score 0.90)",
        "for it: example.com, of unknown kind (score 0.70)",
        "against it: example.net, of unknown kind (score 0.30)",
        "sources for it: 1 - (1 - 0.90) x (1 - 0.70) = 0.97",
        "sources against it: 1 - (1 - 0.30) = 0.30",
        "net support: 1 - (1 - 0.97) / (1 - 0.30) = 0.96",
        "so it is accepted: 0.96 is above 0.7",
    ]


@pytest.mark.parametrize(
    ("confidence", "line"),
    [
        (sides([0.6] * 10, []), "so it is accepted: 1.00 is above 0.7"),
        (
            sides([0.9], [0.9]),
            "so it is disputed: 0.90 alone is above 0.7, and the sources against it leave 0.00",
        ),
        (sides([0.6], []), "so it is a candidate, out of sight: 0.60 is not above 0.7"),
        (weigh([says(A, 0.9, is_verified=False)], []), "both held down to 0.50, since no quote was verified"),
        (weigh([], [says(A, 0.9)]), "sources for it: nothing"),
    ],
)
def test_the_words_say_why_a_fact_is_shown_or_not(confidence: Confidence, line: str) -> None:
    assert line in list(explain(confidence, threshold=0.7))
