"""Pages that are read again: their quotes stand, and the words around them take them back, or change nothing."""

import html
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from support.api_server import keyed_client
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, page_of, says, turn, verdict_entries
from support.scripted_sites import Site

from chiron_api.cli.display.fact import fact_lines
from chiron_api.cli.recheck import recheck_lines
from chiron_api.reports.formats import FORMATS
from chiron_api.reports.gathering import gather
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool
from chiron_workers.db.validation import parse_id
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts.fact_details import FactDetails, load_details
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.rechecks.recheck import Recheck, recheck_subject
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.settings import settings as process_settings
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.tools import registry
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.web.fetch import fetch_page

QUOTE = "The rate of the bank is 5 % a year."
BEFORE = "The bank was founded in the year 1900 by three merchants of the town."
AFTER = "It has branches in ten towns of the valley, and pays out on Mondays."
PARTS = {
    "title": "Bank rates of the valley",
    "nav": '<nav><a href="/">Home</a> <a href="/news">News</a> <a href="/sport">Sport</a></nav>',
    "banner": "",
    "heading": "<h1>Bank rates</h1>",
    "date": '<p class="date">Last updated: 3 May 2024</p>',
    "before": f"<p>{BEFORE}</p>",
    "quote": f"<p>{QUOTE}</p>",
    "below": "",
    "after": f"<p>{AFTER}</p>",
    "foot": "",
    "comments": '<div class="comments">12 comments</div>',
    "footer": "<footer>© 2024 The Valley Times</footer>",
}
TAKINGS_BACK = {
    "a banner": {"banner": '<div class="notice">RETRACTED by its authors</div>'},
    "an update below": {"below": "<p>Update: this figure was wrong.</p>"},
    "a block quote": {"quote": f"<p>The bank wrote to us:</p><blockquote><p>{QUOTE}</p></blockquote>"},
    "another heading": {"heading": "<h1>Common myths</h1>"},
    "a lead-in": {"before": f"<p>{BEFORE}</p><p>Those who sell its shares claim:</p>"},
    "the same paragraph": {"quote": f"<p>{QUOTE} None of this is so any more.</p>"},
    "a newer version": {"banner": '<div class="alert">This page is superseded by version 2.</div>'},
    "a correction at the foot": {"foot": "<p>Correction: an earlier version misstated the rate.</p>"},
    "a banner in German": {"banner": '<div class="hinweis">Dieser Artikel wurde zurückgezogen.</div>'},
    "an update in Japanese": {"below": "<p>訂正:この数字は誤りでした。</p>"},
    "an update in Hindi": {"below": "<p>यह आंकड़ा गलत था और वापस लिया गया।</p>"},
    "another title": {"title": "Retracted: Bank rates", "heading": "<h1>Retracted: Bank rates</h1>"},
    "a sentence that is gone": {"before": ""},
    "an advertisement": {"banner": '<p class="sponsored">Sponsored by the bank</p>'},
}
HARMLESS = {
    "a menu": {"nav": '<nav><a href="/">Start</a> <a href="/jobs">Jobs</a></nav>'},
    "a date": {"date": '<p class="date">Last updated: 9 June 2025, 10:30</p>'},
    "a counter": {"comments": '<div class="comments">15 comments</div>'},
    "a year": {"footer": "<footer>© 2025 The Valley Times</footer>"},
    "a first date": {"date": '<p class="date">Last updated: 3 May 2024</p><p>Published on 2 May 2024</p>'},
    "views": {"foot": "<p>Viewed 1,234 times</p>"},
    "links": {"foot": "<h2>Related</h2><ul><li>Ten banks to watch in 2025</li><li>Loans for farms</li></ul>"},
    "cookies": {"banner": '<div class="banner">We use cookies to improve this site.</div>'},
    "white space": {"before": f"<p>{BEFORE.replace(' ', '  ')}</p>", "after": f"<div><p>{AFTER}</p></div>"},
    "typography": {"after": f"<p>{AFTER.replace(' ten ', ' <b>ten</b>&nbsp;')}</p>"},
    "a shop": {"below": '<p class="share">Share</p>'},
    "a date in German": {"date": '<p class="date">Zuletzt aktualisiert: 3. Mai 2025 um 10:12 Uhr</p>'},
}
Say = Callable[..., Any]
Run = Callable[..., Any]


def page(**changes: str) -> str:
    parts = PARTS | changes
    title = parts.pop("title")
    nav, comments, footer = parts.pop("nav"), parts.pop("comments"), parts.pop("footer")
    body = "\n".join(filter(None, parts.values()))
    return f"<html><head><title>{title}</title></head><body>{nav}<article>{body}</article>{comments}{footer}</body></html>"


@pytest.fixture
def serve(site: Site) -> Callable[..., str]:
    return lambda **changes: site.text("/rates", page(**changes), Content_Type="text/html; charset=utf-8")


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    async with keyed_client(settings) as opened:
        yield opened


@pytest.fixture
def recheck(pool: Pool, embedder: Embedder) -> Run:
    async def run() -> Recheck:
        return await recheck_subject(pool, embedder, process_settings(), "bank")

    return run


@pytest.fixture
def say(pool: Pool, embedder: Embedder) -> Say:
    """Read an address, and store a fact in the words of its quote."""

    async def store(url: str) -> FactDetails:
        async with Store(Session(pool), embedder) as opened:
            await fetch_page(opened, url)
            receipt = await store_knowledge(
                opened, content=QUOTE, quote=QUOTE, subject_id="bank", source_url=url, source_score=0.9,
                topic_path="a/b", confidence=0.9,
            )  # fmt: skip
        return await details(pool, receipt["fact_id"])

    return store


async def details(pool: Pool, fact_id: object) -> FactDetails:
    return await load_details(Session(pool), parse_id(str(fact_id), field="id"))


@pytest.mark.parametrize("name", TAKINGS_BACK)
async def test_a_quote_among_words_that_take_it_back_is_a_visible_doubt_until_they_are_gone(
    pool: Pool, serve: Callable[..., str], say: Say, recheck: Run, name: str
) -> None:
    fact = await say(serve())
    assert fact.assertions[0].ground == "stands"
    serve(**TAKINGS_BACK[name])
    outcome = await recheck()
    assert [context.fact_id for context in outcome.doubtful_facts] == [fact.id]
    assert outcome.superseded_facts == []
    doubtful = await details(pool, fact.id)
    assert (doubtful.status, doubtful.confidence) == ("accepted", fact.confidence)
    assert doubtful.assertions[0].ground == "context changed"
    assert doubtful.assertions[0].context_change
    serve()
    again = await recheck()
    assert [context.fact_id for context in again.cleared_facts] == [fact.id]
    assert again.doubtful_facts == []
    cleared = await details(pool, fact.id)
    assert (cleared.assertions[0].ground, cleared.confidence) == ("stands", fact.confidence)


@pytest.mark.parametrize("name", HARMLESS)
async def test_menus_dates_and_counters_change_no_ground(
    pool: Pool, serve: Callable[..., str], say: Say, recheck: Run, name: str
) -> None:
    fact = await say(serve())
    serve(**HARMLESS[name])
    outcome = await recheck()
    assert outcome.doubtful_facts == []
    assert (await details(pool, fact.id)).assertions[0].ground == "stands"


async def test_show_search_and_the_receipt_say_which_words_are_new(
    pool: Pool, embedder: Embedder, serve: Callable[..., str], say: Say, recheck: Run
) -> None:
    fact = await say(serve())
    serve(**TAKINGS_BACK["an update below"])
    receipt = "\n".join(recheck_lines(await recheck()))
    assert "Context changed: the quote stands, among other words" in receipt
    assert "new around it: Update: this figure was wrong." in receipt
    assert "`chiron check bank`" in receipt
    shown = "\n".join(fact_lines(await details(pool, fact.id)))
    assert "context changed: the quote still stands there" in shown
    assert "Update: this figure was wrong." in shown
    async with Store(Session(pool), embedder) as store:
        [found] = await store.search.find("rate of the bank", filters=Filters("bank"), limit=5)
    assert (found["status"], found["ground"]) == ("accepted", "context changed")
    report = await gather(pool, "bank")
    text = "".join(FORMATS["md"].render(report))
    assert ("context changed" in text, "not verified" in text) == (True, False)
    assert "the words around it have changed since" in text


async def test_the_page_of_a_fact_and_of_its_subject_show_the_doubt(
    client: httpx2.AsyncClient, serve: Callable[..., str], say: Say, recheck: Run
) -> None:
    fact = await say(serve())
    serve(**TAKINGS_BACK["an update below"])
    await recheck()
    words = html.unescape((await client.get(f"/facts/{fact.id}")).text)
    assert "context changed: the quote still stands there, the words around it have changed" in words
    assert "new around it: Update: this figure was wrong." in words
    [assertion] = (await client.get(f"/v1/facts/{fact.id}")).json()["assertions"]
    assert assertion["ground"] == "context changed"
    assert assertion["context_change"] == "new around it: Update: this figure was wrong."
    assert "changed around a quote" in (await client.get("/subjects/bank/sources")).text


async def test_a_worker_of_the_version_before_takes_the_fact_for_one_that_stands(
    pool: Pool, embedder: Embedder, serve: Callable[..., str], say: Say, recheck: Run
) -> None:
    fact = await say(serve())
    serve(**TAKINGS_BACK["a banner"])
    await recheck()
    [row] = await Session(pool).rows(
        "select ground, has_new_context from facts where id = %(id)s", {"id": fact.id}
    )
    assert row == {"ground": "stands", "has_new_context": True}
    async with Store(Session(pool), embedder) as store:
        update = (await store.facts.recompute([fact.id], reason="computed anew"))[fact.id]
    assert (update.status, update.is_changed) == ("accepted", False)


def judge_of(*decisive_words: str) -> Callable[[dict[str, Any]], Says]:
    """A judge who rejects what is shown with decisive words, and supports the rest."""

    def judge(request: dict[str, Any]) -> Says:
        def verdict_on(item: str) -> tuple[str, str]:
            is_taken_back = any(words in page_of(request, item) for words in decisive_words)
            return ("contradicted", "It is taken back.") if is_taken_back else ("supported", "It says so.")

        return verdict_entries(request, verdict_on)

    return judge


async def play(stage: Stage, role: str, *replies: Says, judge: Callable[[dict[str, Any]], Says]) -> None:
    stage.registry = registry()
    await stage.model(lambda request: replies[turn(request)], judge=judge)
    run = NewRun("rates", role, "bank", stage.model_name, 10, scope="bank")
    [run_id] = (await submit(stage.pool, NewBatch([run], "bank"))).run_ids
    assert await stage.play(run_id) is Outcome.PLAYED


async def check(stage: Stage, judge: Callable[[dict[str, Any]], Says]) -> int:
    """Play a run of the verifier; how many questions it asked."""
    await play(
        stage,
        "verifier",
        calls(call("check_facts")),
        calls(call("hand_in_check")),
        says("Done."),
        judge=judge,
    )
    return len(stage.server.verdict_questions)


async def test_a_check_asks_a_model_among_the_new_words_and_the_words_of_before_restore_the_fact(
    stage: Stage, serve: Callable[..., str], say: Say, recheck: Run
) -> None:
    fact = await say(serve())
    serve(**TAKINGS_BACK["an update below"])
    await recheck()
    assert await check(stage, judge_of("this figure was wrong")) == 1
    rejected = await details(stage.pool, fact.id)
    assert (rejected.status, rejected.confidence) == ("candidate", 0)
    [assertion] = rejected.assertions
    assert (assertion.verdict, assertion.verdict_by) == ("contradicted", stage.model_name)
    assert assertion.ground == "context changed"
    assert "among other words now, contradicts it: It is taken back." in rejected.history[-1].reason
    serve(**TAKINGS_BACK["an update below"] | HARMLESS["a date"])
    await recheck()
    assert await check(stage, judge_of("this figure was wrong")) == 0, "the same words are judged once"
    serve()
    await recheck()
    restored = await details(stage.pool, fact.id)
    assert (restored.status, restored.confidence) == ("accepted", fact.confidence)
    assert (restored.assertions[0].ground, restored.assertions[0].verdict) == (
        "stands", fact.assertions[0].verdict,
    )  # fmt: skip
    assert "the words around its quote are what they were" in restored.history[-1].reason


async def test_a_fact_that_a_model_supports_among_the_new_words_stands(
    stage: Stage, serve: Callable[..., str], say: Say, recheck: Run
) -> None:
    fact = await say(serve())
    serve(below="<p>The bank publishes its rates each spring.</p>")
    await recheck()
    assert (await details(stage.pool, fact.id)).assertions[0].ground == "context changed"
    assert await check(stage, judge_of("wrong")) == 1
    judged = await details(stage.pool, fact.id)
    assert (judged.status, judged.confidence) == ("accepted", fact.confidence)
    assert (judged.assertions[0].ground, judged.assertions[0].verdict_by) == ("stands", stage.model_name)
    serve(below="<p>The bank publishes its rates each spring.</p><p>Update: this figure was wrong.</p>")
    await recheck()
    assert (await details(stage.pool, fact.id)).assertions[0].ground == "context changed"
    assert await check(stage, judge_of("wrong")) == 1
    assert (await details(stage.pool, fact.id)).status == "candidate"


async def test_a_run_that_reads_the_page_again_has_facts_of_its_subject_judged_at_once(
    stage: Stage, serve: Callable[..., str], say: Say
) -> None:
    fact = await say(serve())
    url = serve(**TAKINGS_BACK["a banner"])
    read = calls(call("web_fetch", url=url))
    await play(stage, "research", read, says("Done."), judge=judge_of("RETRACTED by its authors"))
    rejected = await details(stage.pool, fact.id)
    assert (rejected.status, rejected.assertions[0].verdict) == ("candidate", "contradicted")
    assert len(stage.server.verdict_questions) == 1


async def test_a_check_without_a_model_leaves_the_doubt(
    pool: Pool, stage: Stage, serve: Callable[..., str], say: Say, recheck: Run, setting: Callable[..., None]
) -> None:
    fact = await say(serve())
    serve(**TAKINGS_BACK["a banner"])
    await recheck()
    setting("VERDICT_MODEL", "none")
    assert await check(stage, judge_of("RETRACTED")) == 0
    doubtful = await details(pool, fact.id)
    assert (doubtful.status, doubtful.assertions[0].ground) == ("accepted", "context changed")
    assert doubtful.confidence == fact.confidence
