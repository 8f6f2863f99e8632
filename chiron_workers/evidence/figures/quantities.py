"""A number with what it measures, in the base unit of its dimension, so that 5 km and 5,000 m are equal."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import inf

SHARE_MAX = Fraction(0.02)  # by which a number may be off and still be the same one, rounded
ABOUT_SHARE_MAX = Fraction(0.1)  # where the text itself says `about`
_FREEZING_K = Fraction(27315, 100)


class Agreement(Enum):
    """How two figures of one kind stand to each other."""

    EQUAL = "equal"
    NEAR = "near"  # one rounds, bounds or includes the other: no contradiction, but not the same words either
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit at `text[start:end]`, as a range from `low` to `high` in the base unit of its dimension.

    `step` is what its last digit counts in. A bound such as `at least 5` is a range without an end. A number that
    belongs to a name (`Apollo 11`) has the dimension `name`.
    """

    low: Fraction | float
    high: Fraction | float
    step: Fraction
    dimension: str
    written: str
    start: int
    end: int
    number_end: int = 0  # where its digits end and its unit begins
    is_about: bool = False
    is_limit: bool = False  # `at most`, `no fewer than`: the bound itself is what is said

    @property
    def span(self) -> tuple[Fraction | float, Fraction | float]:
        """What two quantities of one dimension that say the same have in common."""
        return self.low, self.high

    def agreement(self, rival: "Quantity") -> Agreement:
        """How it stands to another one of the same dimension."""
        if self.span == rival.span:
            return Agreement.EQUAL
        if self.dimension in {"name", "rank"}:
            return Agreement.DIFFERENT
        if self.is_limit and rival.is_limit and (self.low == rival.low or self.high == rival.high):
            return Agreement.DIFFERENT  # at most 100, at most 1,000
        half_step = max(self.step, rival.step) / 2
        is_near = self._reaches(rival, half_step) and self._reaches(rival, self._rounding(rival))
        return Agreement.NEAR if is_near else Agreement.DIFFERENT

    def within(self, rival: "Quantity") -> bool:
        """Whether it says the same as another more precisely: fewer zeros, or a part of its range."""
        if self.low == self.high and rival.low == rival.high:
            return self.step < rival.step
        return rival.low <= self.low and self.high <= rival.high

    def _reaches(self, rival: "Quantity", slack: Fraction) -> bool:
        return self.low <= rival.high + slack and rival.low <= self.high + slack

    def _rounding(self, rival: "Quantity") -> Fraction:
        zero = _FREEZING_K if self.dimension == "temperature" else Fraction(0)
        ends = {self.low, self.high, rival.low, rival.high} - {inf, -inf}
        largest = max(abs(Fraction(end) - zero) for end in ends)
        return largest * (ABOUT_SHARE_MAX if self.is_about or rival.is_about else SHARE_MAX)
