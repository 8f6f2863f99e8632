"""How sure a fact is, worked out from who says so and who says otherwise, so that anybody can do the sum again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chiron_workers.evidence.origins import Assertion, Origin, group_origins
from chiron_workers.states import FactStatus


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a fact is, 0 to 1, and what that rests on.

    `carried` is the most that any of its origins, the best first, carry it to: a further source of less trust lowers
    the mean, but does not hide what better ones carry. `uncontested` is what they carry it to where nobody says otherwise.
    """

    value: float
    carried: float
    uncontested: float
    supporting: tuple[Origin, ...]
    opposing: tuple[Origin, ...]
    cap: float | None = None  # that held the value down, since no quote was verified

    def status(self, threshold: float) -> FactStatus:
        """Accepted above the threshold, disputed where only a contradiction keeps it below, else a candidate."""
        if self.carried > threshold:
            return FactStatus.ACCEPTED
        return FactStatus.DISPUTED if self.uncontested > threshold else FactStatus.CANDIDATE


def calculate_confidence(
    supporting: Sequence[Assertion], opposing: Sequence[Assertion], *, unverified_max: float
) -> Confidence:
    """The confidence of a fact that some sources assert and others contradict.

    corroborations x mean source score / max(assertions, 1), capped at 1 (MISSION M3.2): corroborations are the
    independent origins that support it, assertions are those and the ones that contradict it. Where a quote is
    verified, what comes without one counts on neither side; where none is, the result is `unverified_max` at most.
    """
    is_verified = any(one.is_verified for one in supporting)
    support = group_origins([one for one in supporting if one.is_verified or not is_verified])
    against = group_origins([one for one in opposing if one.is_verified or not is_verified])
    scores = [origin.score for origin in support]
    most = 1.0 if is_verified else unverified_max
    value = _value(scores, len(against))
    carried = max((_value(scores[: n + 1], len(against)) for n in range(len(scores))), default=0.0)
    return Confidence(
        value=min(value, most),
        carried=min(carried, most),
        uncontested=min(max(scores, default=0.0), most),
        supporting=support,
        opposing=against,
        cap=most if value > most else None,
    )


def explain(found: Confidence) -> Iterator[str]:
    """The sum in words, a line each."""
    count, assertions = len(found.supporting), len(found.supporting) + len(found.opposing)
    mean = sum(origin.score for origin in found.supporting) / max(count, 1)
    yield (
        f"{count} independent origin{'' if count == 1 else 's'} x mean source score {mean:.2f} / "
        f"{assertions} assertion{'' if assertions == 1 else 's'} = {min(1.0, count * mean / max(assertions, 1)):.2f}"
    )
    for origin in found.supporting:
        copies = ", which count once" if len(origin.urls) > 1 else ""
        yield f"for it: {origin} (score {origin.score:.2f}{copies})"
    for origin in found.opposing:
        yield f"against it: {origin} (score {origin.score:.2f})"
    if found.cap is not None:
        yield f"held down to {found.cap:.2f}, since no quote was verified"
    elif found.carried > found.value:
        yield f"its best origins alone carry it to {found.carried:.2f}, which decides whether it is shown"


def _value(scores: Sequence[float], against: int) -> float:
    if not scores:
        return 0.0
    mean = sum(scores) / len(scores)
    return min(1.0, round(len(scores) * mean / max(len(scores) + against, 1), 4))
