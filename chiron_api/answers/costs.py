"""What was spent, by day, model, subject and key."""

from datetime import date, datetime

from chiron_api.answers.basics import Answer, Usage


class Cost(Usage):
    """What runs have used together. What a key paid hosted services for outside of runs counts as no run."""

    runs: int


class DayCost(Cost):
    """What counts on a day (UTC)."""

    day: date


class NamedCost(Cost):
    """What counts for a model or a hosted service, a subject, or a key.

    `name` is null for what has no subject, and `(none)` where no key was needed; `title` is that of a subject.
    """

    name: str | None
    title: str | None


class CostGroups(Answer):
    """The dearest groups, the dearest first; `left_out` counts the others."""

    items: list[NamedCost]
    left_out: int


class Costs(Answer):
    """What was spent from `since` to `until`. `by_day` has each day, also those without costs; each list adds up to `total`.

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
