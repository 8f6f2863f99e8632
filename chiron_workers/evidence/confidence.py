"""How sure a fact is and whether it is shown, from who says so and who says otherwise, so that anybody can do the sums again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from chiron_workers.evidence.origins import Assertion, Origin, group_origins
from chiron_workers.states import FactStatus

ORIGIN_WEIGHT_MAX = 0.95  # no single origin is beyond doubt, so that any two good ones can dispute each other
DECIMALS = 6  # binary fractions such as 1 - 0.3 are a little off
FACTORS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a fact is, 0 to 1, and what stands for and against it.

    `value` is the confidence. Doubts are the chances that all independent origins of a side are wrong, where each is right
    with its score; what they leave decides whether the fact is shown.
    """

    value: float
    doubt_for: float
    doubt_against: float
    support: tuple[Origin, ...]
    opposition: tuple[Origin, ...]
    cap: float | None = None  # that held the sums down, since no quote was verified

    @property
    def weight_for(self) -> float:
        """What stands for it, 0 to 1: 1 - prod(1 - score) over its independent origins."""
        return round(1 - self.doubt_for, DECIMALS)

    @property
    def weight_against(self) -> float:
        """What stands against it, 0 to 1, likewise."""
        return round(1 - self.doubt_against, DECIMALS)

    @property
    def weight_left(self) -> float:
        """What is left of the support, 0 to 1: an origin against it takes away what one of its score for it adds."""
        return max(0.0, round(1 - self.doubt_for / self.doubt_against, DECIMALS))

    def status(self, threshold: float) -> FactStatus:
        """Accepted where what is left is above the threshold, disputed where the support alone is, else a candidate."""
        if self.weight_left > threshold:
            return FactStatus.ACCEPTED
        return FactStatus.DISPUTED if self.weight_for > threshold else FactStatus.CANDIDATE


def calculate_confidence(
    supporters: Sequence[Assertion], opponents: Sequence[Assertion], *, unverified_max: float
) -> Confidence:
    """The confidence of a fact that some sources assert and others contradict, and what stands for and against it.

    corroborations x mean source score / max(assertions, 1), capped at 1 (MISSION M3.2): corroborations are the
    independent origins that support it, assertions are those and the ones that contradict it. Where a quote is
    verified, what comes without one counts on neither side; where none is, the result is `unverified_max` at most.
    """
    is_verified = any(assertion.is_verified for assertion in supporters)
    support = group_origins([item for item in supporters if item.is_verified or not is_verified])
    against = group_origins([item for item in opponents if item.is_verified or not is_verified])
    value = _value([origin.score for origin in support], len(against))
    doubt = _doubt(support)
    # What stood for it before its first quote was verified still does, so that a further source never takes weight away.
    is_mixed = is_verified and not all(item.is_verified for item in supporters)
    doubt_unverified = max(_doubt(group_origins(supporters) if is_mixed else support), 1 - unverified_max)
    is_capped = not is_verified and (value > unverified_max or doubt < doubt_unverified)
    return Confidence(
        value=min(value, 1.0 if is_verified else unverified_max),
        doubt_for=min(doubt, doubt_unverified) if is_verified else doubt_unverified,
        doubt_against=_doubt(against),
        support=support,
        opposition=against,
        cap=unverified_max if is_capped else None,
    )


def explain(
    confidence: Confidence, *, threshold: float, cap_reason: str = "no quote was verified"
) -> Iterator[str]:
    """Both sums in words, a line each: the confidence, and why the fact is shown or not."""
    count, assertions = len(confidence.support), len(confidence.support) + len(confidence.opposition)
    mean = sum(origin.score for origin in confidence.support) / max(count, 1)
    yield (
        f"confidence: {count} independent origin{'' if count == 1 else 's'} x mean source score {mean:.2f} / "
        f"{assertions} assertion{'' if assertions == 1 else 's'} = {min(1.0, count * mean / max(assertions, 1)):.2f}"
    )
    for origin in confidence.support:
        yield f"for it: {origin} (score {origin.score:.2f}{_ties(origin)})"
    for origin in confidence.opposition:
        yield f"against it: {origin} (score {origin.score:.2f}{_ties(origin)})"
    yield f"sources for it: {_product(confidence.support)}"
    if confidence.cap is not None:
        yield f"both held down to {confidence.cap:.2f}, since {cap_reason}"
    if confidence.opposition:
        yield f"sources against it: {_product(confidence.opposition)}"
        yield (
            f"net support: 1 - (1 - {confidence.weight_for:.2f}) / (1 - {confidence.weight_against:.2f}) = "
            f"{confidence.weight_left:.2f}"
        )
    yield _conclusion(confidence, threshold)


def _ties(origin: Origin) -> str:
    """Why several sources are one origin."""
    if len(origin.urls) < 2:
        return ""
    return f"; {len(origin.urls)} sources count once: {' and '.join(origin.ties)}"


def _conclusion(confidence: Confidence, threshold: float) -> str:
    match confidence.status(threshold):
        case FactStatus.ACCEPTED:
            return f"so it is accepted: {confidence.weight_left:.2f} is above {threshold:g}"
        case FactStatus.DISPUTED:
            return (
                f"so it is disputed: {confidence.weight_for:.2f} alone is above {threshold:g}, and the sources against it "
                f"leave {confidence.weight_left:.2f}"
            )
        case _:
            return (
                f"so it is a candidate, out of sight: {confidence.weight_for:.2f} is not above {threshold:g}"
            )


def _product(origins: Sequence[Origin]) -> str:
    if not origins:
        return "nothing"
    weights = [min(origin.score, ORIGIN_WEIGHT_MAX) for origin in origins]
    factors = [f"(1 - {weight:.2f})" for weight in weights[:FACTORS_SHOWN]]
    further = [f"{len(weights) - FACTORS_SHOWN} more"] if len(weights) > FACTORS_SHOWN else []
    return f"1 - {' x '.join([*factors, *further])} = {1 - _doubt(origins):.2f}"


def _doubt(origins: Sequence[Origin]) -> float:
    """prod(1 - score) over independent origins, of which none counts more than ORIGIN_WEIGHT_MAX."""
    return prod(1 - min(origin.score, ORIGIN_WEIGHT_MAX) for origin in origins)


def _value(scores: Sequence[float], against: int) -> float:
    if not scores:
        return 0.0
    mean = sum(scores) / len(scores)
    return min(1.0, round(len(scores) * mean / max(len(scores) + against, 1), 4))
