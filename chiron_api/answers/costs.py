"""Costs by day, model, subject and key."""

from datetime import date, datetime

from chiron_api.answers.basics import Answer, Usage


class Cost(Usage):
    """Sums over runs. Hosted services that a key paid for outside of runs add to the cost, not to the number of runs."""

    runs: int


class DayCost(Cost):
    """The cost of a day (UTC)."""

    day: date


class NamedCost(Cost):
    """The cost of a model or a hosted service, a subject, or a key.

    `name` is null for services without a subject, and `(none)` for runs that needed no key; `title` is that of a subject.
    """

    name: str | None
    title: str | None


class CostGroups(Answer):
    """The groups that cost most, in that order; `left_out` counts the others."""

    items: list[NamedCost]
    left_out: int


class Costs(Answer):
    """Costs from `since` to `until`. `by_day` has each day, also those without costs; each list adds up to `total`.

    A run counts once, with all that it has cost, on the day (UTC) on which it ended or paused; one that is queued or runs counts
    today. Runs that were deleted are not counted.
    """

    since: datetime
    until: datetime
    total: Cost
    by_day: list[DayCost]
    by_model: CostGroups
    by_subject: CostGroups
    by_key: CostGroups
