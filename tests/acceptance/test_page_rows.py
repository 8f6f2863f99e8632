"""Rows of live pages and strips of runs in a real browser: what is focused stays so while the rest changes, and Tab is short."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
from playwright.async_api import Page, expect
from support.api_server import api_client
from support.browser import CHROMIUM, TIMEOUT_MS, chromium, window
from support.research_rows import Shelf

from chiron_api.local_stack.access import api_key
from chiron_workers.settings import Settings

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: no look at the page")
expect.set_options(timeout=TIMEOUT_MS)

STOPS_MAX = 12
FOCUSED_PATH = "document.activeElement.getAttribute('href')"


@asynccontextmanager
async def opened(settings: Settings, path: str, **options: bool) -> AsyncIterator[tuple[Page, list[str]]]:
    """A page of a server, in a browser."""
    async with (
        api_client(settings) as client,
        chromium() as browser,
        window(browser, key=api_key(settings), **options) as (page, complaints),
    ):
        await page.goto(f"{client.base_url}{path}")
        yield page, complaints


def open_batch(shelf: Shelf, runs: int, state: str = "running") -> tuple[UUID, list[UUID]]:
    """A batch whose runs are in a state, and has not ended; the batch and its runs."""
    batch = shelf.batch(shelf.subject("moss", "Moss"), "Moss of the north")
    topics = (f"Where does moss {n} grow?" for n in range(1, runs + 1))
    more = {"state": state, "finished_at": None, "facts": 0}
    ids = [shelf.run("moss", batch, topic, number=n, **more) for n, topic in enumerate(topics, start=1)]
    shelf.connection.execute("update batches set open_runs = run_count, finished_at = null")
    return batch, ids


async def stops_to(page: Page, path: str) -> int:
    """How often Tab is pressed until a link to a path has the focus."""
    for stops in range(1, 40):
        await page.keyboard.press("Tab")
        if await page.evaluate(FOCUSED_PATH) == path:
            return stops
    raise AssertionError(f"40 tab stops do not reach {path}")


async def test_first_run_of_200_is_within_12_tab_stops_and_arrow_keys_reach_the_others(
    settings: Settings, shelf: Shelf
):
    batch, runs = open_batch(shelf, 200)
    shelf.connection.execute("update runs set state = 'completed' where number > 150")
    async with opened(settings, f"/batches/{batch}") as (page, complaints):
        assert await stops_to(page, f"/runs/{runs[0]}") <= STOPS_MAX
        await page.reload()
        for key in ("Tab", "Enter", "Tab"):  # the link that skips to the runs
            await page.keyboard.press(key)
        assert await page.evaluate(FOCUSED_PATH) == f"/runs/{runs[0]}"
        for key, n in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", 200), ("Home", 1)):
            await page.keyboard.press(key)
            assert await page.evaluate(FOCUSED_PATH) == f"/runs/{runs[n - 1]}", key
        before = await page.locator(":focus").bounding_box()
        await page.keyboard.press("ArrowDown")
        below = await page.locator(":focus").bounding_box()
        assert before and below
        assert (below["x"], below["width"], below["height"]) == (before["x"], 24, 24)
        assert below["y"] > before["y"]
        path = await page.evaluate(FOCUSED_PATH)
        await page.keyboard.press("Tab")  # out of the strip
        assert await page.locator(".strip :focus").count() == 0
        await page.keyboard.press("Shift+Tab")
        assert await page.evaluate(FOCUSED_PATH) == path
        await expect(page.locator(".strip-legend")).to_contain_text("50 completed, nothing found")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(f"{page.url.partition('/batches')[0]}{path}")
        assert complaints == []


async def test_strip_without_a_script_is_a_list_of_links(settings: Settings, shelf: Shelf):
    batch, runs = open_batch(shelf, 3)
    async with opened(settings, f"/batches/{batch}", has_script=False) as (page, _):
        paths = [await link.get_attribute("href") for link in await page.locator(".strip a").all()]
        assert paths == [f"/runs/{run}" for run in runs]
        assert await page.locator(".strip a[tabindex]").count() == 0


async def test_focused_row_stays_while_others_change(settings: Settings, shelf: Shelf):
    batch, runs = open_batch(shelf, 40)
    async with opened(settings, f"/batches/{batch}") as (page, complaints):
        row = page.locator(f"tr[data-key='{runs[1]}']")
        await row.locator("a").first.focus()
        await row.evaluate("row => { row.isSame = true; }")
        await page.evaluate("scrollTo(0, 240)")
        shelf.connection.execute("update runs set state = 'failed', turns = 7 where number = 1")
        shelf.connection.execute("update runs set turns = 9 where number = 2")
        await expect(page.locator(f"tr[data-key='{runs[0]}']")).to_contain_text("failed")
        await expect(row.locator("[data-label=turns]")).to_have_text("9")
        await expect(page.locator(f".strip a[href='/runs/{runs[0]}']")).to_have_class("failed")
        assert await page.evaluate(FOCUSED_PATH) == f"/runs/{runs[1]}"
        assert await row.evaluate("row => row.isSame === true")
        assert await page.evaluate("scrollY") == 240
        assert complaints == []


async def test_row_that_leaves_a_list_hands_its_focus_to_the_one_in_its_place(
    settings: Settings, shelf: Shelf
):
    _, runs = open_batch(shelf, 3)
    async with opened(settings, "/runs?state=running") as (page, complaints):
        await page.locator(f"tr[data-key='{runs[1]}'] a").first.focus()
        shelf.connection.execute("update runs set state = 'completed' where number = 2")
        await expect(page.locator("tr[data-key]")).to_have_count(2)
        assert await page.evaluate(FOCUSED_PATH) == f"/runs/{runs[0]}"
        await expect(page.locator("#announcements")).to_have_text("The item you were on has left the list.")
        assert complaints == []


async def test_focused_batch_of_home_stays_when_another_comes_above_it(settings: Settings, shelf: Shelf):
    batch, _ = open_batch(shelf, 1)
    async with opened(settings, "/") as (page, complaints):
        link = page.locator(f"#band-running a[href='/batches/{batch}']").first
        await link.focus()
        later = shelf.batch("moss", "Ferns")
        shelf.run("moss", later, "Where?", number=1, state="queued", started_at=None, finished_at=None)
        await expect(page.locator("#band-running")).to_contain_text("Ferns")
        assert await page.evaluate(FOCUSED_PATH) == f"/batches/{batch}"
        assert complaints == []
