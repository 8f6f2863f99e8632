"""Costs by day, model, subject and key."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from chiron_api.acts.act import Noun, ToolFace
from chiron_api.acts.inputs import Input, Moment, Name
from chiron_api.acts.moments import Side
from chiron_api.answers.costs import Costs
from chiron_api.services import Services
from chiron_workers.billing.costs import CostFilter, costs_of
from chiron_workers.knowledge.coverage.subjects import slug

COSTS = Noun("Costs")
DAYS_SHOWN = 30
PERIOD_MAX = timedelta(days=367)


def first_day() -> datetime:
    """The beginning of the 30 days (UTC) that end today."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=DAYS_SHOWN - 1)


class CostsQuery(Input):
    """Which costs; each filter that is named narrows them."""

    since: Annotated[
        Moment | None,
        Field(description=f"What counts since then: {Side.PAST.forms}. Default: the last {DAYS_SHOWN} days."),
    ] = None
    until: Annotated[
        Moment | None, Field(description="Before this time, in the same forms. Default: now.")
    ] = None
    model: Annotated[
        Name | None, Field(description="Of this model, or of this hosted service outside of runs.")
    ] = None
    subject: Annotated[Name | None, Field(description="Of this subject, by its id or its name.")] = None
    key: Annotated[
        Name | None,
        Field(description="Of batches that this key submitted; (none): of those that needed no key."),
    ] = None

    @property
    def period(self) -> tuple[datetime, datetime]:
        """The beginning and the end of the time."""
        return self.since or first_day(), self.until or datetime.now(UTC)

    @model_validator(mode="after")
    def _bound_period(self) -> Self:
        since, until = self.period
        period = until - since
        if period <= timedelta():
            raise PydanticCustomError("period", "since has to be before until, and in the past")
        if period > PERIOD_MAX:
            raise PydanticCustomError(
                "period", "the time may be a year long: name a later since, or an until"
            )
        return self


@COSTS.act(
    "costs.read",
    "GET /v1/costs",
    "What was spent?",
    client="costs",
    faces=("GET /costs",),
    tool=ToolFace("get_costs", next_step="Narrow it by model, subject or key to see the parts of a sum."),
)
async def show_costs(services: Services, query: CostsQuery) -> Costs:
    """What was spent in a time, in all and by day (UTC), model, subject and key, the dearest first.

    A run counts once, with all that it has cost, when it ended or paused; one that is queued or runs counts now. A key that sees
    its owner's batches alone sees their costs alone.
    """
    since, until = query.period
    selection = CostFilter(
        since=since,
        until=until,
        owner=services.principal.visible_owner,
        model=query.model,
        subject_id=slug(query.subject) if query.subject else None,
        key=query.key,
    )
    return Costs.model_validate(await costs_of(services.pool, selection))
