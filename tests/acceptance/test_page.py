"""The page in a real browser, against a live batch: submit, watch facts arrive, follow one to its words, steer, search."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from playwright.async_api import Dialog, Page, expect
from support.api_server import api_client
from support.browser import CHROMIUM, TIMEOUT_MS, chromium, window
from support.databases import Databases
from support.hostile_rows import HOSTILE, hostile_rows
from support.lesson_writing import taught_subject, written_lesson
from support.loop_thread import loop_thread
from support.npm_packages import installed
from support.private_valkey import own_valkey
from support.research_rows import NOON, Shelf
from support.worker_processes import chiron, running

from chiron_api.local_stack.access import api_key
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.ids import new_id
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: no look at the page")
expect.set_options(timeout=TIMEOUT_MS)

SUBJECT = "Moss"
TOPICS = ("Where does moss grow?", "How does moss take up water?")
LIBRARY = {
    "habitats.md": "# Habitats\n\nMoss grows on shaded stone and on the bark of old trees. "
    "Peat moss grows in bogs, where the water is sour. Moss grows in the Antarctic at -20 °C.\n",
    "water.md": "# Water\n\nMoss takes up water through its leaves, since it has no roots. "
    "A cushion of moss holds up to 20 times its dry weight in water.\n",
}
WATCH = """
window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI));
"""
# What no view has of its own, and what a script of strangers would leave behind.
INTRUSIONS = """() => {
  const ours = [...document.scripts].every((script) => script.src.startsWith(location.origin + "/assets/"));
  const strange = "img, iframe, object, embed, base, style, svg:not([class], [role]), [style], a[href^='javascript:' i]";
  const handlers = [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on")));
  const elements = [...document.querySelectorAll(strange), ...handlers].map((element) => element.outerHTML.slice(0, 120));
  const width = document.documentElement.scrollWidth;
  return [
    ...elements, ...violations,
    ...(ours ? [] : ["a script of strangers"]), ...("intruder" in window ? ["a script ran"] : []),
    ...(width > innerWidth ? [`${width} px wide`] : []),
    ...(document.body.innerText.includes(" 49 ${7*7}") ? ["a template ran"] : []),
  ];
}"""
VIEWS = (
    "/",
    "/submit",
    "/batches",
    "/runs",
    "/subjects",
    "/subjects/moss",
    "/search?q=moss",
    "/subjects/moss/sources",
    "/subjects/moss/changes?since=2026-01-01",
    "/subjects/moss/learn",
    "/quizzes?subject=moss",
    "/runs?state=failed",
    "/costs",
    "/system",
    "/schedules",
    "/webhooks",
    "/deliveries",
    "/keys",
    "/docs",
    "/batches/no-id",
)
SCREENS = ((1_440, False), (1_440, True), (390, False), (390, True))


@dataclass(frozen=True, slots=True)
class Research:
    """An API whose worker plays what is submitted, and its address and key."""

    settings: Settings
    address: str
    key: str

    def library(self, subject: str) -> None:
        """Give a subject its documents; each test has a subject of its own, whose facts are new."""
        added = chiron(
            self.settings, "corpus", "add", str(self.settings.home / "library"), "--subject", subject
        )
        assert added.returncode == 0, added.stderr


@pytest.fixture(scope="module")
def research(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Research]:
    home = tmp_path_factory.mktemp("research")
    (home / "library").mkdir()
    for name, text in LIBRARY.items():
        (home / "library" / name).write_text(text)
    with databases.lend() as url, own_valkey(home / "valkey") as valkey, loop_thread() as loop:
        settings = Settings(
            _env_file=None, home=home, database_url=url, redis_url=valkey.url, model="offline"
        )  # type: ignore[call-arg]
        with loop.entered(api_client(settings)) as client, running(settings, CHIRON_MODEL="offline"):
            yield Research(settings, str(client.base_url), api_key(settings))


async def submit(page: Page, address: str, subject: str = SUBJECT, *, columns: str = "") -> None:
    await page.goto(f"{address}/submit")
    await page.get_by_label("Topics, one a line", exact=True).fill("\n".join(TOPICS))
    await page.get_by_label("Subject", exact=True).fill(subject)
    await page.get_by_label("Columns", exact=True).fill(columns)
    await expect(page.locator("#estimate")).to_contain_text("Runs")
    await page.get_by_role("button", name="Submit").click()


async def test_a_batch_is_submitted_watched_and_read_and_a_fact_shows_the_words_it_rests_on(
    research: Research,
):
    research.library("Watched moss")
    async with chromium() as browser, window(browser, key=research.key) as (page, complaints):
        await submit(page, research.address, "Watched moss")
        await expect(page.locator("h1")).to_be_visible()
        # Nobody reloads: facts and states come by themselves.
        await expect(page.locator("#facts .card").first).to_be_visible()
        await expect(page.locator("#head")).to_contain_text("2 of 2")
        await page.locator("#facts .card a[data-panel]").first.click()
        mark = page.locator("#panel mark[data-quote]")
        await expect(mark).to_be_visible()
        quote = await mark.inner_text()
        assert any(" ".join(quote.split()) in " ".join(text.split()) for text in LIBRARY.values())
        await page.keyboard.press("Escape")
        await expect(page.locator("#panel")).to_be_hidden()

        await page.get_by_role("link", name=TOPICS[0]).first.click()
        await expect(page.locator("#story")).to_contain_text("searched")
        await expect(page.locator("#story")).to_contain_text("Completed.")
        await page.locator("#q").fill("bogs")
        await page.keyboard.press("Enter")
        await expect(page.locator("main")).to_contain_text("Peat moss grows in bogs")
        assert complaints == []


async def test_live_page_opens_its_stream_again_after_a_429(settings: Settings, shelf: Shelf, pool: Pool):
    batch = shelf.batch(shelf.subject("moss", SUBJECT), "Moss of the north")
    shelf.connection.execute("update batches set open_runs = 1, finished_at = null")
    key, _ = await create_key(pool, NewKey("reader", AccessScope.ADMIN))
    async with (
        api_client(settings.model_copy(update={"streams_per_key": 1})) as client,
        chromium() as browser,
        window(browser, key=key) as (page, complaints),
    ):
        headers = {"Authorization": f"Bearer {key}"}
        await page.clock.install()
        async with client.stream("GET", f"/batches/{batch}/live", headers=headers) as stream:
            assert stream.status_code == 200
            await page.goto(f"{client.base_url}/batches/{batch}")
            await expect(page.locator("#lost")).to_be_visible()
        async with asyncio.timeout(TIMEOUT_MS / 1000):
            while await page.locator(
                "#lost"
            ).is_visible():  # until the server notices that the other stream has ended
                await page.clock.run_for(10_000)
    assert complaints
    assert all("429" in complaint for complaint in complaints)


async def test_a_batch_is_cancelled_from_its_page(settings: Settings):
    async with (
        api_client(settings) as client,
        chromium() as browser,
        window(browser, key=api_key(settings)) as (page, complaints),
    ):
        page.on("dialog", lambda dialog: dialog.accept())
        await submit(page, str(client.base_url))  # no worker plays it
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.locator("#head")).to_contain_text("cancelled")
        assert complaints == []


async def test_everything_works_without_a_script(research: Research):
    research.library("Plain moss")
    async with (
        chromium() as browser,
        window(browser, key=research.key, has_script=False) as (page, _complaints),
    ):
        await page.goto(f"{research.address}/submit")
        await page.get_by_label("Topics, one a line", exact=True).fill("\n".join(TOPICS))
        await page.get_by_label("Subject", exact=True).fill("Plain moss")
        await page.get_by_role("button", name="Submit").click()
        while "2 of 2" not in await page.locator("#head").inner_text():
            await page.reload()
        await page.locator("#facts .card a").first.click()
        await expect(page).to_have_url(re.compile("/facts/"))
        await expect(page.locator("mark[data-quote]")).to_be_visible()


async def test_the_keyboard_is_enough(research: Research):
    research.library("Typed moss")
    async with chromium() as browser, window(browser, key=research.key) as (page, complaints):
        await page.goto(f"{research.address}/submit")
        await page.get_by_label("Topics, one a line", exact=True).focus()
        await page.keyboard.insert_text("\n".join(TOPICS))
        await page.keyboard.press("Tab")  # the file
        await page.keyboard.press("Tab")
        await page.keyboard.type("Typed moss")
        await page.keyboard.press("Enter")
        await expect(page.locator("#head")).to_contain_text("2 of 2")
        await page.reload()
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile("/runs/"))
        await page.keyboard.press("/")
        await page.keyboard.type("cushion")
        await page.keyboard.press("Enter")
        await expect(page).to_have_url(re.compile("/search"))
        await expect(page.locator("main .card").first).to_be_visible()
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await expect(page.locator("#panel mark[data-quote]")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.keyboard.press("?")
        await expect(page.locator("#help")).to_be_visible()
        assert complaints == []


async def test_axe_finds_nothing_on_any_view(research: Research):
    axe = (installed("axe-core") / "axe.min.js").read_text()
    research.library(SUBJECT)
    async with chromium() as browser:
        async with window(browser, key=research.key) as (page, _):
            paths = [*VIEWS, *await researched_paths(page, research.address), *await other_paths(research)]
        for width, is_dark in SCREENS:
            for key, views in ((research.key, paths), ("", ["/"])):  # without a key it is the form to sign in
                async with window(browser, key=key, width=width, is_dark=is_dark) as (page, _):
                    for path in views:
                        await page.goto(research.address + path)
                        await page.evaluate(axe)  # as the devtools do, beside the page's policy
                        result = await page.evaluate("axe.run()")
                        faults = [
                            f"{path} at {width}: {fault['id']}: {node['html'][:200]}"
                            for fault in result["violations"]
                            for node in fault["nodes"][:3]
                        ]
                        assert faults == []
                        assert await page.evaluate("document.documentElement.scrollWidth") <= width, path


async def researched_paths(page: Page, address: str) -> list[str]:
    """Submit a batch twice; the addresses of the first, of its parts, and of both compared."""
    batches = []
    for _ in range(2):
        await submit(page, address, columns="name, year:int, statement, page:url, source")
        await expect(page.locator("#head")).to_contain_text("2 of 2")
        batches.append(page.url.removeprefix(address))
    first, second = batches
    await page.goto(address + first)
    await expect(page.locator("#rows tbody a").first).to_be_visible()
    links = [page.locator(words).first for words in ("#runs td a", "#facts a")]
    parts = [str(await link.get_attribute("href")) for link in links]
    return [
        first,
        *parts,
        f"{first}/report",
        f"{first}/rows",
        f"{second}/diff?against={first.rpartition('/')[2]}",
    ]


async def other_paths(research: Research) -> list[str]:
    """A schedule, a webhook with a delivery, a lesson, and a quiz that was begun: the addresses of the last two."""
    shelf = Shelf(research.settings.database_url)
    taught = taught_subject(shelf)
    lesson = written_lesson(shelf, taught)
    shelf.insert(
        "questions", id=new_id(), node_id=taught.thickness, subject_id="sea-ice", kind="recall", text="How thick is it?",
        key="1.9 m", statement="It is 1.9 m thick.", fact_ids=[taught.mean], question_hash="none", handed_in_at=NOON,
    )  # fmt: skip
    shelf.connection.close()
    headers = {"Authorization": f"Bearer {research.key}"}
    schedule = {"topics": ["sea ice"], "subject": "The Arctic", "cron": "0 9 * * MON"}
    async with httpx2.AsyncClient(base_url=research.address, headers=headers, trust_env=False) as client:

        async def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
            answer = await client.post(f"/v1/{path}", json=body)
            assert answer.is_success, answer.text
            made: dict[str, Any] = answer.json()
            return made

        await post("subscriptions", schedule)
        webhook = await post("webhooks", {"url": "https://example.org/hook"})
        await post(f"webhooks/{webhook['id']}/test", {})
        quiz = await post("quizzes", {"subject": "sea-ice"})
    return [
        f"/lessons/{lesson}",
        f"/quizzes/{quiz['quiz_id']}",
        "/subjects/sea-ice",
        "/subjects/sea-ice/learn",
    ]


async def test_words_of_strangers_stay_words_on_every_view_and_none_is_wider_than_a_phone(
    settings: Settings, shelf: Shelf
):
    rows = hostile_rows(shelf)
    async with (
        api_client(settings) as client,
        chromium() as browser,
        window(browser, key=api_key(settings), width=390) as (page, complaints),
    ):
        address, faults = str(client.base_url), []

        async def refuse(dialog: Dialog) -> None:
            faults.append(f"a dialog: {dialog.message}")
            await dialog.dismiss()

        page.on("dialog", refuse)
        await page.add_init_script(WATCH)
        for path in rows.paths():
            await page.goto(address + path)
            faults += [f"{path[:60]}: {fault}" for fault in await page.evaluate(INTRUSIONS)]
        # What the script itself fetches becomes part of the page, too: an estimate, a panel, and live parts.
        await page.goto(f"{address}/submit")
        await page.get_by_label("Topics, one a line", exact=True).fill(HOSTILE)
        await page.get_by_label("Subject", exact=True).fill("Towers")
        await page.get_by_label("Model", exact=True).fill(HOSTILE[:200])
        await expect(page.locator("#estimate")).to_contain_text("<script>window.intruder")
        faults += await page.evaluate(INTRUSIONS)
        await page.goto(f"{address}/batches/{rows.batch}")
        await page.locator("#facts a[data-panel]").first.click()
        await expect(page.locator("#panel mark[data-quote]")).to_contain_text("{{7*7}}")
        faults += await page.evaluate(INTRUSIONS)
    assert faults == []
    assert [words for words in complaints if "the server responded with a status of 4" not in words] == []
