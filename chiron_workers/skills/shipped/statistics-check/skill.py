"""Statistics recomputed from what a source prints. Numbers come as text, since their digits say how they are rounded."""

import math
import re
from collections.abc import Callable
from decimal import Decimal
from statistics import NormalDist
from typing import Annotated, Literal, TypedDict

from pydantic import Field

from chiron_workers.errors import ToolError
from chiron_workers.skills import BaseSkill
from chiron_workers.toolkit import tool

Printed = Annotated[str, Field(pattern=r"^\s*[-+−]?\d*[.]?\d+\s*$", max_length=40)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Df = Annotated[float, Field(gt=0, le=1e9)]
REPORTED_P = re.compile(r"(?:p\s*)?([<>=≤≥]?)\s*(\d*\.?\d+)", re.IGNORECASE)
STEPS_MAX = 100_000
Z95 = NormalDist().inv_cdf(0.975)


class StatisticsCheck(BaseSkill):
    """Tools that recompute p-values, means, percentages, intervals and ratios."""

    system_prompt = "Before you store a fact that rests on a reported statistic, recompute it with the tools of statistics-check."


class Recomputed(TypedDict):
    """What a test statistic says."""

    p: float
    p_range: list[float]
    agrees: bool | None
    one_sided_agrees: bool | None
    conclusion_changes: bool | None


class MeanCheck(TypedDict):
    """Whether a mean can come about."""

    possible: bool
    nearest: list[str]
    informative: bool


class PercentageCheck(TypedDict):
    """A share, computed."""

    percent: float
    agrees: bool
    interval_95: list[float]


class IntervalCheck(TypedDict):
    """What an interval says."""

    standard_error: float
    p: float
    p_range: list[float]
    centre: float
    is_centred: bool
    agrees: bool | None


class Comparison(TypedDict):
    """Two groups compared, each measure with its 95 % interval."""

    risk_a: float
    risk_b: float
    risk_difference: list[float]
    risk_ratio: list[float] | None
    odds_ratio: list[float] | None
    number_needed: float | None


@tool
def recompute_p(
    *,
    test: Literal["t", "F", "chi2", "z", "r"],
    value: Printed,
    df1: Df | None = None,
    df2: Df | None = None,
    reported_p: Annotated[str, Field(max_length=40)] = "",
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05,
) -> Recomputed:
    """Recompute the two-sided p-value of a test statistic, and compare it with the one that is reported.

    Args:
        test: Which statistic; F and chi2 are taken at their upper end.
        value: The statistic as printed, with all digits.
        df1: Degrees of freedom of t, chi2 and r; the first of F.
        df2: The second degrees of freedom of F.
        reported_p: As printed, such as "= .036", "< .001" or ".04".
        alpha: The level at which the source calls a result significant.

    Returns:
        p, p_range (what the rounding of value allows), agrees and one_sided_agrees (null without reported_p), and
        conclusion_changes (whether the result is significant by one p and not by the other).
    """
    needed = {"t": (df1,), "F": (df1, df2), "chi2": (df1,), "z": (), "r": (df1,)}[test]
    if None in needed:
        raise ToolError(f"df1{' and df2 are' if test == 'F' else ' is'} needed for {test}.")
    low, middle, high = _allowed(value)
    if test == "r" and middle > 1:
        raise ToolError("value: a correlation lies between -1 and 1")
    p, p_low, p_high = (_p(test, each, df1 or 0, df2 or 0) for each in (middle, high, low))
    two_sided, one_sided, changes = None, None, None
    if reported_p.strip():
        sign, told_low, told_high = _reported(reported_p)
        two_sided = _overlap(sign, told_low, told_high, p_low, p_high)
        one_sided = _overlap(sign, told_low, told_high, p_low / 2, p_high / 2) if test in "tzr" else None
        if sign in "=<≤":
            changes = not two_sided and (told_high <= alpha) != (p <= alpha)
        else:
            changes = not two_sided and told_low >= alpha > p
    return Recomputed(
        p=_short(p),
        p_range=[_short(p_low), _short(p_high)],
        agrees=two_sided,
        one_sided_agrees=one_sided,
        conclusion_changes=changes,
    )


@tool
def check_mean(*, mean: Printed, n: Annotated[int, Field(ge=1, le=10**9)], items: Count = 1) -> MeanCheck:
    """See whether a mean of whole numbers can come about with so many of them (the GRIM test).

    Args:
        mean: The mean as printed, with all digits.
        n: How many people or things it is the mean of.
        items: How many whole numbers each contributes, such as the items of a scale that are averaged.

    Returns:
        possible, nearest (the possible means around it), and informative (false where any mean is possible).
    """
    total, given = n * max(1, items), _decimal(mean)
    low, _, high = _around(given)
    first, last = math.floor(low * total), math.ceil(high * total)
    hits = [
        count for count in range(first, min(last, first + 3) + 1) if low <= Decimal(count) / total <= high
    ]
    digits = max(0, -int(given.as_tuple().exponent)) + 2
    around = sorted({math.floor(given * total), math.ceil(given * total)})
    return MeanCheck(
        possible=bool(hits),
        nearest=[f"{Decimal(count) / total:.{digits}f}" for count in around],
        informative=total * (high - low) < 1,
    )


@tool
def check_percentage(
    *, count: Count, total: Annotated[int, Field(ge=1, le=10**12)], reported: Printed
) -> PercentageCheck:
    """Compute a percentage from its count and total, and compare it with the one that is reported.

    Args:
        count: How many.
        total: Of how many.
        reported: The percentage as printed, without the sign.

    Returns:
        percent, agrees (within the rounding of reported), and interval_95 (Wilson's, in percent).
    """
    if count > total:
        raise ToolError("count: must not be larger than total")
    share, given = count / total, _decimal(reported)
    low, _, high = _around(given)
    spread = Z95 * math.sqrt(share * (1 - share) / total + Z95**2 / (4 * total**2))
    ends = [(share + Z95**2 / (2 * total) + side * spread) / (1 + Z95**2 / total) for side in (-1, 1)]
    return PercentageCheck(
        percent=_short(100 * share),
        agrees=low <= Decimal(count) * 100 / total <= high,
        interval_95=[_short(100 * min(1.0, max(0.0, end))) for end in ends],
    )


@tool
def check_interval(
    *,
    estimate: Printed,
    low: Printed,
    high: Printed,
    level: Annotated[float, Field(gt=0.5, lt=1)] = 0.95,
    is_ratio: bool = False,
    reported_p: Annotated[str, Field(max_length=40)] = "",
) -> IntervalCheck:
    """Take a confidence interval apart: its standard error, the p-value it implies, whether the estimate is its centre.

    Args:
        estimate: The estimate as printed.
        low: The lower end as printed.
        high: The upper end as printed.
        level: The level of the interval.
        is_ratio: It is an odds, risk or hazard ratio, whose interval is symmetric on the logarithm.
        reported_p: The p-value as printed, if there is one.

    Returns:
        standard_error (of the logarithm for a ratio), p (two-sided, normal), p_range (what rounding allows), centre of the
        interval, is_centred (whether the estimate is that, within rounding), and agrees (null without reported_p).
    """
    ends = [_around(_decimal(text)) for text in (low, estimate, high)]
    if is_ratio and ends[0][0] <= 0:
        raise ToolError(
            "low: the interval of a ratio lies above 0; one that is printed as 0.0 is rounded too far"
        )
    if ends[0][1] >= ends[2][1]:
        raise ToolError("low: must be below high")
    scaled = [[math.log(each) if is_ratio else float(each) for each in end] for end in ends]
    z = NormalDist().inv_cdf(0.5 + level / 2)
    error = (scaled[2][1] - scaled[0][1]) / (2 * z)
    slack = max(scaled[0][2] - scaled[0][0], scaled[2][2] - scaled[2][0]) / 2
    error_low, error_high = max(1e-12, error - slack / z), error + slack / z
    centre, own = (scaled[0][1] + scaled[2][1]) / 2, (scaled[1][2] - scaled[1][0]) / 2
    far, near = abs(scaled[1][1]) + own, max(0.0, abs(scaled[1][1]) - own)
    p_low, p_high = math.erfc(far / error_low / math.sqrt(2)), math.erfc(near / error_high / math.sqrt(2))
    return IntervalCheck(
        standard_error=_short(error),
        p=_short(math.erfc(abs(scaled[1][1]) / error / math.sqrt(2))),
        p_range=[_short(p_low), _short(p_high)],
        centre=_short(math.exp(centre) if is_ratio else centre),
        is_centred=abs(scaled[1][1] - centre) <= slack + own + 1e-12,
        agrees=_overlap(*_reported(reported_p), p_low, p_high) if reported_p.strip() else None,
    )


@tool
def compare_groups(
    *,
    events_a: Count,
    total_a: Annotated[int, Field(ge=1)],
    events_b: Count,
    total_b: Annotated[int, Field(ge=1)],
) -> Comparison:
    """Compare how often something happened in two groups: difference and ratio of the risks, odds ratio.

    Args:
        events_a: How often in the first group, such as those who were treated.
        total_a: How many there are in it.
        events_b: How often in the second group.
        total_b: How many there are in it.

    Returns:
        risk_a and risk_b; risk_difference, risk_ratio and odds_ratio, each as [value, low, high] with a 95 % interval
        (null where a group has no events, or for the odds only events); number_needed (1 / difference; null if none).
    """
    if events_a > total_a or events_b > total_b:
        raise ToolError("events: must not be more than the total of their group")
    a, b = events_a / total_a, events_b / total_b
    spread = Z95 * math.sqrt(a * (1 - a) / total_a + b * (1 - b) / total_b)
    risk_ratio, odds_ratio = None, None
    if events_a and events_b:
        error = math.sqrt(1 / events_a - 1 / total_a + 1 / events_b - 1 / total_b)
        risk_ratio = _on_logarithm(a / b, error)
        if events_a < total_a and events_b < total_b:
            cells = (events_a, total_a - events_a, events_b, total_b - events_b)
            error = math.sqrt(sum(1 / cell for cell in cells))
            odds_ratio = _on_logarithm(cells[0] * cells[3] / (cells[1] * cells[2]), error)
    return Comparison(
        risk_a=_short(a),
        risk_b=_short(b),
        risk_difference=[_short(each) for each in (a - b, a - b - spread, a - b + spread)],
        risk_ratio=risk_ratio,
        odds_ratio=odds_ratio,
        number_needed=_short(1 / abs(a - b)) if a != b else None,
    )


def _on_logarithm(ratio: float, error: float) -> list[float]:
    return [_short(ratio * math.exp(side * Z95 * error)) for side in (0, -1, 1)]


def _decimal(printed: str) -> Decimal:
    return Decimal(printed.strip().replace("−", "-"))


def _around(number: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """The least and the largest number that is printed like this, and it in the middle."""
    half = Decimal(5).scaleb(int(number.as_tuple().exponent) - 1)
    return number - half, number, number + half


def _allowed(printed: str) -> tuple[float, float, float]:
    low, middle, high = _around(abs(_decimal(printed)))
    return max(0.0, float(low)), float(middle), float(high)


def _reported(words: str) -> tuple[str, float, float]:
    match = REPORTED_P.fullmatch(words.strip())
    if match is None:
        raise ToolError(f'reported_p: must look like "= .036" or "< .001" (got {words[:40]!r})')
    low, _, high = _around(Decimal(match[2]))
    if match[1] in ("", "="):
        return "=", float(low), float(high)
    return match[1], float(match[2]), float(match[2])


def _overlap(sign: str, told_low: float, told_high: float, p_low: float, p_high: float) -> bool:
    if sign in "<≤":
        return p_low <= told_high
    if sign in ">≥":
        return p_high >= told_low
    return p_low <= told_high and told_low <= p_high


def _p(test: str, value: float, df1: float, df2: float) -> float:
    if test == "z":
        return math.erfc(value / math.sqrt(2))
    if test == "chi2":
        return _upper_gamma(df1 / 2, value / 2)
    if test == "F":
        return _beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * value))
    squared = value**2 if test == "t" else df1 * value**2 / (1 - value**2) if value < 1 else math.inf
    return _beta(df1 / 2, 0.5, df1 / (df1 + squared))


def _beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function. Source: Press et al., Numerical Recipes, 6.4."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)

    def step(m: int) -> float:
        half = m // 2
        if m % 2:
            return -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        return half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))

    return math.exp(front) / a / _continued(step)


def _continued(step: Callable[[int], float]) -> float:
    """1 + step(1) / (1 + step(2) / (1 + ...)), by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for m in range(1, STEPS_MAX):
        d = 1 / ((1 + step(m) * d) or 1e-300)
        c = (1 + step(m) / c) or 1e-300
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _upper_gamma(a: float, x: float) -> float:
    """The regularized upper incomplete gamma function. Source: Press et al., Numerical Recipes, 6.2."""
    if x <= 0:
        return 1.0
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        total = term = 1 / a
        for n in range(1, STEPS_MAX):
            term *= x / (a + n)
            total += term
            if term < total * 1e-16:
                break
        return 1 - front * total
    b, c = x + 1 - a, 1e300
    d = value = 1 / b
    for n in range(1, STEPS_MAX):
        b += 2
        d = 1 / ((-n * (n - a) * d + b) or 1e-300)
        c = (b - n * (n - a) / c) or 1e-300
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * value


def _short(number: float) -> float:
    return float(f"{number:.6g}")
