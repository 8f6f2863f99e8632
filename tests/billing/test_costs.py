"""What was spent in a time: each run counts once, in each of the sums."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from support.research_rows import Shelf

from chiron_workers.access.allotments import pay
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.access.principals import Principal
from chiron_workers.billing.costs import GROUPS_MAX, NO_KEY, CostFilter, CostGroups, costs_of
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope

NOW = datetime.now(UTC)
YESTERDAY = NOW - timedelta(days=1)
WEEK = CostFilter(since=NOW - timedelta(days=6), until=NOW + timedelta(minutes=10))


def spend(shelf: Shelf, batch_id: UUID, usd: float, subject_id: str = "moss", **more: object) -> UUID:
    return shelf.run(subject_id, batch_id, "Why?", **{"spent_usd": usd, "finished_at": NOW} | more)


def amounts(groups: CostGroups) -> dict[str | None, float]:
    return {cost.name: float(cost.spent_usd_min) for cost in groups.items}


async def key_of(pool: Pool, name: str) -> Principal:
    _, key = await create_key(pool, NewKey(name, AccessScope.SUBMIT))
    return Principal(key.owner, key.scope, key.name, key.id)


@pytest.fixture
def moss(shelf: Shelf) -> UUID:
    """A batch of the local user."""
    shelf.subject("moss", "Moss")
    shelf.subject("ferns", "Ferns")
    return shelf.batch("moss")


async def test_each_list_adds_up_to_the_total(pool: Pool, shelf: Shelf, moss: UUID):
    spend(shelf, moss, 1, finished_at=YESTERDAY)
    spend(shelf, moss, 2, "ferns", model="claude-small")
    spend(shelf, moss, 64, finished_at=NOW - timedelta(days=30))
    costs = await costs_of(pool, WEEK)
    assert (costs.total.spent_usd, costs.total.runs) == (3, 2)
    assert sum(day.spent_usd_min for day in costs.by_day) == 3
    assert amounts(costs.by_model) == {"claude-small": 2, "claude-opus-5-5": 1}
    assert amounts(costs.by_subject) == {"ferns": 2, "moss": 1}
    assert costs.by_subject.items[0].title == "Ferns"
    assert amounts(costs.by_key) == {NO_KEY: 3}


async def test_each_day_is_there_and_a_run_counts_on_the_day_on_which_it_ended(
    pool: Pool, shelf: Shelf, moss: UUID
):
    spend(shelf, moss, 1, finished_at=YESTERDAY)
    days = (await costs_of(pool, WEEK)).by_day
    assert days[0].day == WEEK.since.date()
    assert len({day.day for day in days}) == len(days) == (WEEK.until.date() - WEEK.since.date()).days + 1
    assert {day.day: float(day.spent_usd_min) for day in days if day.runs} == {YESTERDAY.date(): 1}


async def test_an_open_run_counts_now_and_one_that_paused_when_it_did(pool: Pool, shelf: Shelf, moss: UUID):
    open_fields = {"finished_at": None, "leased_until": None}
    spend(shelf, moss, 1, **open_fields, state="running", token=UUID(int=1))
    paused = spend(shelf, moss, 2, **open_fields, state="paused")
    shelf.events(paused, moss, [("run.started", {}), ("run.paused", {})])
    statement = "update events set at = %s where run_id = %s"
    shelf.connection.execute(statement, (NOW - timedelta(days=3), paused))
    shelf.run(
        "moss", moss, "Not begun", spent_usd=0, input_tokens=0, output_tokens=0, state="queued", **open_fields
    )
    costs = await costs_of(pool, WEEK)
    assert {day.day: float(day.spent_usd_min) for day in costs.by_day if day.runs} == {
        (NOW - timedelta(days=3)).date(): 2,
        datetime.now(UTC).date(): 1,
    }
    assert costs.total.runs == 2


async def test_a_cost_of_which_a_part_is_unknown_is_none(pool: Pool, shelf: Shelf, moss: UUID):
    spend(shelf, moss, 1, unpriced_calls=2)
    spend(shelf, moss, 1, "ferns", unconfirmed_usd=0.25, unconfirmed_calls=1)
    costs = await costs_of(pool, WEEK)
    assert (costs.total.spent_usd, costs.total.spent_usd_min) == (None, 2)
    [ferns, moss_cost] = costs.by_subject.items
    assert (ferns.spent_usd, ferns.unconfirmed_usd) == (1, Decimal("0.25"))
    assert (moss_cost.spent_usd, moss_cost.unpriced_calls) == (None, 2)


async def test_services_outside_of_runs_count_once_with_the_key_that_paid(
    pool: Pool, shelf: Shelf, moss: UUID
):
    anna = await key_of(pool, "anna")
    await pay(pool, anna, "brave", Decimal("0.5"))
    spend(shelf, moss, 1, services_usd=0.25)
    costs = await costs_of(pool, WEEK)
    assert (costs.total.spent_usd, costs.total.services_usd, costs.total.runs) == (1.5, 0.75, 1)
    assert amounts(costs.by_model) == {"claude-opus-5-5": 1, "brave": 0.5}
    assert amounts(costs.by_key) == {NO_KEY: 1, "anna": 0.5}
    assert amounts(costs.by_subject) == {"moss": 1, None: 0.5}


async def test_filters_narrow_each_sum(pool: Pool, shelf: Shelf, moss: UUID):
    anna = await key_of(pool, "anna")
    batch_id = shelf.batch("ferns")
    owner = "update batches set owner = 'anna', key_id = %s where id = %s"
    shelf.connection.execute(owner, (anna.key_id, batch_id))
    spend(shelf, batch_id, 4, "ferns", model="claude-small")
    spend(shelf, moss, 1)
    await pay(pool, anna, "brave", Decimal("0.5"))

    async def total(**options: object) -> float:
        which = CostFilter(WEEK.since, WEEK.until, **options)  # type: ignore[arg-type]
        return float((await costs_of(pool, which)).total.spent_usd_min)

    assert await total() == 5.5
    assert await total(owner="anna") == 4.5
    assert await total(owner="bob") == 0
    assert await total(key="anna") == 4.5
    assert await total(key=NO_KEY) == 1
    assert await total(model="claude-small") == 4
    assert await total(model="brave") == 0.5
    assert await total(subject_id="ferns") == 4
    assert await total(subject_id="ferns", key=NO_KEY) == 0


async def test_the_dearest_groups_are_shown_and_the_others_counted(pool: Pool, shelf: Shelf, moss: UUID):
    for n in range(GROUPS_MAX + 3):
        spend(shelf, moss, n + 1, model=f"model-{n:03}")
    costs = await costs_of(pool, WEEK)
    assert costs.by_model.left_out == 3
    assert costs.by_model.items[0].name == f"model-{GROUPS_MAX + 2:03}"
    assert float(costs.total.spent_usd_min) == sum(range(1, GROUPS_MAX + 4))
