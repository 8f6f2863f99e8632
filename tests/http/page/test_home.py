"""Home: the latest answers with their first sentences, money today, and what a colleague with a new key sees."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from support.api_server import api_client
from support.research_rows import Shelf

from chiron_api.http.page.answers import first_sentences
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope, BudgetPeriod

NOW = datetime.now(UTC)
ANSWER = """# Moss and water

**Short answer:**

Moss takes up water **through its leaves** [1], since it has no roots (https://a.org/moss). A cushion holds up to 20 times
its dry weight [2]. The third sentence is not shown.

Sources
[1] A https://a.org/moss
"""
SUMMARY = "Moss takes up water through its leaves, since it has no roots."


@pytest.fixture
async def colleague(settings: Settings, pool: Pool) -> AsyncIterator[httpx2.AsyncClient]:
    """Somebody who was just given a key, with a budget a day."""
    new_key = NewKey("bea", AccessScope.SUBMIT, budget_usd=5, budget_period=BudgetPeriod.DAY)  # type: ignore[arg-type]
    secret, _ = await create_key(pool, new_key)
    async with api_client(settings) as client:
        client.headers["Authorization"] = f"Bearer {secret}"
        yield client


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("", ""),
        ("One. Two. Three.", "One. Two."),
        ("## Head\n\n- A point is made [1].\n- Another one [2, 3].", "A point is made. Another one."),
        ("| a | b |\n|---|---|\n\nA table is left out.", "A table is left out."),
        ("It grew (https://a.org), then `stopped`.", "It grew, then stopped."),
        ("[1]", ""),
        ("I read three pages. It grew [1]. It fell [2].", "It grew. It fell."),
    ],
)
def test_first_sentences_are_prose_without_marks(answer: str, sentences: str):
    assert first_sentences(answer) == sentences


async def test_home_shows_the_latest_answers_those_since_the_last_visit_on_top(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("moss")
    batch = shelf.batch("moss", "Moss week")
    old = shelf.run(
        "moss", batch, "An old question", answer="Old words.", finished_at=NOW - timedelta(days=9)
    )
    new = shelf.run("moss", batch, "How does moss drink?", answer=ANSWER, facts=3, finished_at=NOW)
    shelf.run(
        "moss",
        batch,
        "Nobody knows",
        answer="I did not find it.",
        facts=0,
        finished_at=NOW - timedelta(days=10),
    )
    shelf.run("moss", batch, "It failed", state="failed", finished_at=NOW)
    page = (await client.get("/")).text
    band = page[page.index('id="band-answers"') : page.index('id="band-money"')]
    assert band.index("How does moss drink?") < band.index("An old question") < band.index("Nobody knows")
    assert SUMMARY in band
    assert "dry weight" not in band.split(SUMMARY)[0]
    assert "third sentence" not in band
    assert "It failed" not in band
    assert band.count(">new<") == 1
    assert "3 facts" in band
    assert band.count("nothing found") == 1
    for run in (old, new):
        assert f'href="/runs/{run}"' in band
        assert f'href="/runs/{run}/report"' in band


async def test_money_today_names_the_limit_and_for_administrators_each_key(
    settings: Settings, serving, pool: Pool, shelf: Shelf
):
    _, key = await create_key(
        pool, NewKey("bea", AccessScope.SUBMIT, budget_usd=5, budget_period=BudgetPeriod.DAY)
    )  # type: ignore[arg-type]
    shelf.subject("moss")
    batch = shelf.batch("moss")
    shelf.connection.execute("update batches set owner = 'bea', key_id = %s", (key.id,))
    shelf.run("moss", batch, "Why?", spent_usd=2, finished_at=NOW)
    shelf.insert("spending", day=NOW.date(), shard=0, usd=4)
    limited = settings.model_copy(update={"daily_budget_usd": 20, "api_without_key": True})
    async with serving(limited) as client:
        page = (await client.get("/")).text
    band = page[page.index('id="band-money"') : page.index('id="band-news"')]
    assert "<dt>Spent</dt><dd>$4.00</dd>" in band
    assert "<dt>Limit of the day</dt><dd>$20.00" in band
    assert ">bea</a>" in band
    assert '<td class="num" data-label="today">$2.00</td>' in band
    assert "$5.00 a day" in band


async def test_a_colleague_with_a_new_key_sees_shared_subjects_their_newest_facts_and_a_form(
    colleague: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("ferns", "Ferns")
    shelf.subject("moss", "Moss", "Know how moss drinks")
    shelf.run("moss", shelf.batch("moss", "Not for strangers"), "Of others", answer="Secret.")
    fact = shelf.fact("moss", "Moss has no roots.", "https://a.org/moss", created_at=NOW)
    page = (await colleague.get("/")).text
    assert "You have not researched anything yet" in page
    assert page.index('href="/subjects/moss"') < page.index('href="/subjects/ferns"')
    assert "Know how moss drinks" in page
    assert f'href="/facts/{fact}"' in page
    assert 'action="/submit"' in page
    for text in ("Not for strangers", "Of others", "Secret.", "chiron submit"):
        assert text not in page


async def test_a_colleague_is_told_of_their_own_money_and_answers_alone(
    colleague: httpx2.AsyncClient, pool: Pool, shelf: Shelf
):
    shelf.subject("moss")
    batch = shelf.batch("moss", "Of Bea")
    shelf.connection.execute("update batches set owner = 'bea'")
    shelf.run("moss", batch, "Mine", spent_usd=0.75, finished_at=NOW)
    shelf.run("moss", shelf.batch("moss", "Of others"), "Theirs", spent_usd=9, finished_at=NOW)
    page = (await colleague.get("/")).text
    assert "<dt>Your runs</dt><dd>$0.7500</dd>" in page
    assert "Left of your key&#39;s $5.00" in page or "Left of your key's $5.00" in page
    assert "Mine" in page
    for text in ("Theirs", "Of others", "$9.00", "Limit of the day"):
        assert text not in page
