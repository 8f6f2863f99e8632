"""Means and percentages recomputed. Numbers come as text, since their digits say how they are rounded."""

import math
from decimal import Decimal
from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.errors import ToolError
from chiron_workers.skills import BaseSkill
from chiron_workers.toolkit import tool

Decimals = Annotated[str, Field(pattern=r"^\s*[-+−]?\d*[.]?\d+\s*$", max_length=40)]
Count = Annotated[int, Field(ge=1, le=10**9)]


class StatisticsCheck(BaseSkill):
    """Tools that recompute means of whole numbers and percentages."""

    system_prompt = "Before you store a fact that rests on a mean or a percentage, check it with the tools of statistics-check."


class MeanCheck(TypedDict):
    """Whether a mean can come about."""

    possible: bool
    nearest: list[str]
    informative: bool


class PercentageCheck(TypedDict):
    """A percentage, computed."""

    percent: float
    agrees: bool


@tool
def check_mean(*, mean: Decimals, n: Count, items: Annotated[int, Field(ge=1, le=1_000)] = 1) -> MeanCheck:
    """See whether a mean of whole numbers can come about with so many of them (the GRIM test).

    Args:
        mean: The mean as printed, with all digits.
        n: How many people or things it is the mean of.
        items: How many whole numbers each contributes, such as the items of a scale that are averaged.

    Returns:
        possible, nearest (the possible means around it), and informative (false where any mean is possible).
    """
    total, low, high = n * items, *_rounding_range(mean)
    scaled_mean = (low + high) / 2 * total
    means = sorted({Decimal(number) / total for number in (math.floor(scaled_mean), math.ceil(scaled_mean))})
    digits = len(mean.partition(".")[2].strip()) + 2
    return MeanCheck(
        possible=any(low <= value <= high for value in means),
        nearest=[f"{value:.{digits}f}" for value in means],
        informative=total * (high - low) < 1,
    )


@tool
def check_percentage(
    *, count: Annotated[int, Field(ge=0)], total: Count, reported: Decimals
) -> PercentageCheck:
    """Compute a percentage from its count and total, and compare it with the one that is reported.

    Args:
        count: How many.
        total: Of how many.
        reported: The percentage as printed, without the sign.

    Returns:
        percent, and agrees (within the rounding of reported).
    """
    if count > total:
        raise ToolError("count: must not be larger than total")
    percent, (low, high) = Decimal(100 * count) / total, _rounding_range(reported)
    return PercentageCheck(percent=float(f"{percent:.6g}"), agrees=low <= percent <= high)


def _rounding_range(text: str) -> tuple[Decimal, Decimal]:
    """The least and the largest number that is printed like this."""
    number = Decimal(text.strip().replace("−", "-"))
    half = Decimal(5).scaleb(int(number.as_tuple().exponent) - 1)
    return number - half, number + half
