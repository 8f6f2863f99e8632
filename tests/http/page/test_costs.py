"""The view of costs: filters in the address, charts with axes, and nothing of others."""

import re
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from support.api_server import api_client
from support.research_rows import Shelf

from chiron_api.http.page.charts import TICKS_MAX, cost_chart, time_ticks
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

NOW = datetime.now(UTC)


@pytest.fixture
def spending(shelf: Shelf) -> None:
    shelf.subject("moss", "Moss")
    shelf.subject("ferns", "Ferns & more")
    batch = shelf.batch("moss")
    shelf.run("moss", batch, "a", spent_usd=3, finished_at=NOW)
    shelf.run("ferns", batch, "b", spent_usd=1, model="claude-small", finished_at=NOW - timedelta(days=10))


async def test_the_sums_are_the_same_over_http_and_on_the_page(client: httpx2.AsyncClient, spending: None):
    costs = (await client.get("/v1/costs")).json()
    assert (costs["total"]["spent_usd"], costs["total"]["runs"], len(costs["by_day"])) == (4, 2, 30)
    assert [(cost["name"], cost["title"]) for cost in costs["by_subject"]["items"]] == [
        ("moss", "Moss"),
        ("ferns", "Ferns & more"),
    ]
    page = (await client.get("/costs")).text
    assert "<dt>Spent</dt><dd>$4.00</dd>" in page
    assert "Ferns &amp; more" in page
    assert 'href="/costs?subject=ferns"' in page
    assert 'aria-label="75 % of the sum"' in page


async def test_filters_stand_in_the_address_and_take_words(client: httpx2.AsyncClient, spending: None):
    page = (await client.get("/costs", params={"since": "7d", "model": "", "subject": "Moss"})).text
    assert "<dt>Spent</dt><dd>$3.00</dd>" in page
    assert 'name="since" value="7d"' in page
    assert 'href="/costs?since=7d&amp;subject=Moss&amp;key=%28none%29"' in page
    week = (await client.get("/v1/costs", params={"since": "7d"})).json()
    assert week["total"]["spent_usd"] == 3


@pytest.mark.parametrize("since", ["whenever", "2001-01-01", "2999-01-01", "<script>"])
async def test_a_time_that_cannot_be_used_is_said_beside_the_form(client: httpx2.AsyncClient, since: str):
    answer = await client.get("/costs", params={"since": since})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert 'action="/costs"' in answer.text
    assert "<script>" not in answer.text.split("<main")[1]


async def test_a_key_sees_the_costs_of_its_owner_alone(
    settings: Settings, pool: Pool, shelf: Shelf, spending: None
):
    secret, key = await create_key(pool, NewKey("bea", AccessScope.READ))
    batch = shelf.batch("moss")
    shelf.connection.execute("update batches set owner = 'bea', key_id = %s where id = %s", (key.id, batch))
    shelf.run("moss", batch, "c", spent_usd=0.5, finished_at=NOW)
    async with api_client(settings) as api:
        api.headers["Authorization"] = f"Bearer {secret}"
        costs = (await api.get("/v1/costs")).json()
        page = (await api.get("/costs")).text
        others = (await api.get("/v1/costs", params={"key": "(none)"})).json()
    assert costs["total"]["spent_usd"] == 0.5
    assert [cost["name"] for cost in costs["by_key"]["items"]] == ["bea"]
    assert others["total"]["runs"] == 0
    assert "claude-small" not in page


async def test_each_chart_has_axes_with_units_and_labels(
    client: httpx2.AsyncClient, shelf: Shelf, spending: None
):
    batch = shelf.batch("moss")
    shelf.connection.execute("update batches set budget_usd = 2 where id = %s", (batch,))
    shelf.run("moss", batch, "a", spent_usd=1)
    for path, titles in (
        ("/costs", ("USD a day", "Day, UTC")),
        (f"/batches/{batch}", ("Spent in all, USD", "Time, ", "budget $2.00")),
    ):
        page = (await client.get(path)).text
        [chart] = re.findall(r'<svg class="chart".*?</svg>', page, re.DOTALL)
        for title in titles:
            assert title in chart, path
        assert len(re.findall(r'class="of-y[^>]*>\$', chart)) >= 3
        assert len(re.findall(r'class="of-x', chart)) >= 3


@pytest.mark.parametrize("seconds", [0, 3, 59, 400, 3_600, 86_400, 200_000, 3e6, 9e7])
def test_an_axis_of_time_has_a_few_round_times_within_it(seconds: float):
    since = datetime(2026, 3, 1, 12, 7, 31, tzinfo=UTC)
    ticks = time_ticks(since, since + timedelta(seconds=seconds))
    assert len({tick.label for tick in ticks}) == len(ticks) <= TICKS_MAX + 1
    assert all(68 <= tick.at <= 616 for tick in ticks)
    assert ticks or seconds < 10


def test_a_chart_of_a_batch_has_its_budget_and_reservation_within_the_plot():
    chart = cost_chart(
        {0: 1.0, 5: 2.0}, stretches=10, limit=10, reserved_usd=4, since=NOW, until=NOW + timedelta(hours=1)
    )
    assert chart.limit_y is not None
    assert (
        chart.plot.y_min
        <= chart.limit_y
        < chart.band_y
        < chart.band_y + chart.band_height
        <= chart.plot.y_max
    )
