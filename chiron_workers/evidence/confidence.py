"""How sure a fact is, worked out from who says so and who says otherwise, so that anybody can do the sum again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chiron_workers.evidence.origins import Assertion, Origin, group_origins
from chiron_workers.states import FactStatus


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a fact is, 0 to 1, and what that rests on.

    `best_value` is the highest value that its best origins give: the first, the first two, and so on. A further source
    of less trust lowers the mean, but does not hide what better ones give.
    """

    value: float
    best_value: float
    value_without_opposition: float
    support: tuple[Origin, ...]
    opposition: tuple[Origin, ...]
    cap: float | None = None  # that held the value down, since no quote was verified

    def status(self, threshold: float) -> FactStatus:
        """Accepted above the threshold, disputed where only a contradiction keeps it below, else a candidate."""
        if self.best_value > threshold:
            return FactStatus.ACCEPTED
        return FactStatus.DISPUTED if self.value_without_opposition > threshold else FactStatus.CANDIDATE


def calculate_confidence(
    supporters: Sequence[Assertion], opponents: Sequence[Assertion], *, unverified_max: float
) -> Confidence:
    """The confidence of a fact that some sources assert and others contradict.

    corroborations x mean source score / max(assertions, 1), capped at 1 (MISSION M3.2): corroborations are the
    independent origins that support it, assertions are those and the ones that contradict it. Where a quote is
    verified, what comes without one counts on neither side; where none is, the result is `unverified_max` at most.
    """
    is_verified = any(assertion.is_verified for assertion in supporters)
    support = group_origins([item for item in supporters if item.is_verified or not is_verified])
    against = group_origins([item for item in opponents if item.is_verified or not is_verified])
    scores = [origin.score for origin in support]
    value_max = 1.0 if is_verified else unverified_max
    value = _value(scores, len(against))
    best_value = max((_value(scores[: n + 1], len(against)) for n in range(len(scores))), default=0.0)
    return Confidence(
        value=min(value, value_max),
        best_value=min(best_value, value_max),
        value_without_opposition=min(max(scores, default=0.0), value_max),
        support=support,
        opposition=against,
        cap=value_max if value > value_max else None,
    )


def explain(confidence: Confidence) -> Iterator[str]:
    """The sum in words, a line each."""
    count, assertions = len(confidence.support), len(confidence.support) + len(confidence.opposition)
    mean = sum(origin.score for origin in confidence.support) / max(count, 1)
    yield (
        f"{count} independent origin{'' if count == 1 else 's'} x mean source score {mean:.2f} / "
        f"{assertions} assertion{'' if assertions == 1 else 's'} = {min(1.0, count * mean / max(assertions, 1)):.2f}"
    )
    for origin in confidence.support:
        copies = ", which count once" if len(origin.urls) > 1 else ""
        yield f"for it: {origin} (score {origin.score:.2f}{copies})"
    for origin in confidence.opposition:
        yield f"against it: {origin} (score {origin.score:.2f})"
    if confidence.cap is not None:
        yield f"held down to {confidence.cap:.2f}, since no quote was verified"
    elif confidence.best_value > confidence.value:
        yield f"its best origins alone carry it to {confidence.best_value:.2f}, which decides whether it is shown"


def _value(scores: Sequence[float], against: int) -> float:
    if not scores:
        return 0.0
    mean = sum(scores) / len(scores)
    return min(1.0, round(len(scores) * mean / max(len(scores) + against, 1), 4))
