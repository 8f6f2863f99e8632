"""The sources of a subject's facts are read again, and the facts show what they say now."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from support.scripted_sites import Site

from chiron_api.cli.recheck import recheck_lines
from chiron_workers.db.connect import Pool
from chiron_workers.db.validation import parse_id
from chiron_workers.documents.read_folder import FileDocument, read_folder
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.facts.fact_details import FactDetails, load_details
from chiron_workers.knowledge.facts.grounds import check_grounds
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.rechecks.recheck import Recheck, recheck_subject
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.sources.sources import Sources
from chiron_workers.store import Store
from chiron_workers.tools.files import file_reader
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.web.fetch import fetch_page

FIVE = "The rate of the bank is 5 % a year."
RAIN, SNOW = "It rains on 200 days of the year.", "Snow lies for a month in the hills."


@pytest.fixture
def recheck(pool: Pool, embedder: Embedder) -> Callable[..., Any]:
    async def run(**more: Any) -> Recheck:
        return await recheck_subject(pool, embedder, settings(), "bank", **more)

    return run


@pytest.fixture
def say(pool: Pool, embedder: Embedder) -> Callable[..., Any]:
    """Read an address, and store a fact in the words of its text."""

    async def store(url: str, content: str, subject_id: str = "bank") -> str:
        async with Store(Session(pool), embedder) as opened:
            if url.startswith("http"):
                await fetch_page(opened, url)
            receipt = await store_knowledge(
                opened, content=content, quote=content, subject_id=subject_id, source_url=url, source_score=0.9,
                topic_path="a/b", confidence=0.9,
            )  # fmt: skip
        return receipt["fact_id"]

    return store


async def details(pool: Pool, fact_id: str) -> FactDetails:
    return await load_details(Session(pool), parse_id(fact_id, field="id"))


def urls(outcomes: list[Any]) -> list[str]:
    return [outcome.url for outcome in outcomes]


async def test_what_changed_is_gone_or_gives_no_answer_is_told_apart(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    pages = {name: site.text(f"/{name}", f"{FIVE} Page {name}.") for name in ("a", "b", "c", "d")}
    facts = {name: await say(page, f"{FIVE} Page {name}.") for name, page in pages.items()}
    first = await recheck()
    assert (first.sources, first.unchanged_sources, first.left_out) == (4, 4, 0)
    assert (first.changed_sources, first.gone_sources, first.unread_sources, first.superseded_facts) == (
        [],
        [],
        [],
        [],
    )
    site.text("/a", "All new.")
    del site.answers["/b"]
    site.text("/c", "", status=500)
    second = await recheck()
    assert (urls(second.changed_sources), urls(second.gone_sources), urls(second.unread_sources)) == (
        [pages["a"]], [pages["b"]], [pages["c"]],
    )  # fmt: skip
    assert "500" in second.unread_sources[0].note
    assert second.unchanged_sources == 1
    assert {fact.fact_id for fact in second.superseded_facts} == {facts["a"], facts["b"]}
    assert (await details(pool, facts["c"])).status == "accepted"
    site.text("/a", f"{FIVE} Page a.")
    site.text("/b", f"{FIVE} Page b.")
    third = await recheck()
    assert (urls(third.back_sources), urls(third.changed_sources)) == ([pages["b"]], [pages["a"]])
    assert {fact.fact_id for fact in third.restored_facts} == {facts["a"], facts["b"]}
    assert "Superseded: no source says so any more" in "\n".join(recheck_lines(second))


async def test_robots_txt_is_obeyed(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    page = site.text("/a", FIVE)
    fact_id = await say(page, FIVE)
    async with pool.connection() as connection:
        await connection.execute("truncate robots")
    site.text("/robots.txt", "User-agent: *\nDisallow: /")
    site.text("/a", "All new.")
    outcome = await recheck()
    assert "robots.txt forbids it" in outcome.unread_sources[0].note
    assert (await details(pool, fact_id)).status == "accepted"


async def test_what_was_read_longest_ago_comes_first(
    site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    for name in ("a", "b", "c"):
        await say(site.text(f"/{name}", f"{FIVE} {name}"), f"{FIVE}")
    site.requests.clear()
    outcome = await recheck(limit=2)
    assert (outcome.sources, outcome.left_out) == (2, 1)
    assert [path for path in site.requests if path != "/robots.txt"] == ["/a", "/b"]
    await recheck(limit=1)
    assert site.requests[-1] == "/c"


def crossref(*updates: dict[str, Any]) -> str:
    return json.dumps(
        {"status": "ok", "message-type": "work", "message": {"DOI": "10.1234/rate", "updated-by": updates}}
    )


RETRACTED = {
    "DOI": "10.1234/notice", "type": "retraction", "label": "Retraction", "source": "retraction-watch",
    "updated": {"date-parts": [[2019, 7, 26]]}, "record-id": "20946",
}  # fmt: skip


async def test_a_retracted_publication_bears_nothing_out(
    pool: Pool,
    site: Site,
    index: Site,
    say: Callable[..., Any],
    recheck: Callable[..., Any],
    embedder: Embedder,
) -> None:
    page = site.text("/doi/full/10.1234/rate", FIVE)
    fact_id = await say(page, FIVE)
    index.text("/crossref/works/10.1234/rate", crossref({"type": "correction", "DOI": "10.1234/other"}))
    index.text("/openalex/works/doi:10.1234/rate", json.dumps({"is_retracted": False}))
    assert (await recheck()).retracted_sources == []
    assert all("mailto=librarian@example.org" in request for request in index.requests)
    index.text("/crossref/works/10.1234/rate", crossref(RETRACTED))
    outcome = await recheck()
    [retracted] = outcome.retracted_sources
    assert (retracted.url, retracted.note) == (
        page, "10.1234/rate was retracted, says crossref, notice 10.1234/notice.",
    )  # fmt: skip
    fact = await details(pool, fact_id)
    assert (fact.status, fact.assertions[0].ground) == ("superseded", "source retracted")
    assert fact.assertions[0].source_mark == "source retracted"
    async with Store(Session(pool), embedder) as store:
        [found] = await store.search.find("rate", filters=Filters("bank", candidates=True), limit=5)
    assert (found["status"], found["ground"]) == ("superseded", "source retracted")
    again = await say(page, "The rate of the bank is 5 % a year.")
    assert (again, (await details(pool, fact_id)).status) == (fact_id, "superseded")
    index.text("/crossref/works/10.1234/rate", crossref())
    restored = await recheck()
    assert [fact.fact_id for fact in restored.restored_facts] == [fact_id]


async def test_openalex_alone_may_know_of_a_retraction_and_silence_changes_nothing(
    pool: Pool, site: Site, index: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    page = site.text("/10.1234/rate", FIVE)
    fact_id = await say(page, FIVE)
    index.text("/openalex/works/doi:10.1234/rate", json.dumps({"is_retracted": True}))
    assert "says openalex" in (await recheck()).retracted_sources[0].note
    index.text("/openalex/works/doi:10.1234/rate", "", status=503)
    outcome = await recheck()
    assert (outcome.retracted_sources, urls(outcome.unread_sources)) == ([], [page])
    assert (await details(pool, fact_id)).status == "superseded"


async def test_a_publication_is_known_by_the_doi_in_its_page_too_unless_the_page_is_one_s_own(
    pool: Pool,
    site: Site,
    index: Site,
    say: Callable[..., Any],
    recheck: Callable[..., Any],
    setting: Callable[..., None],
    tmp_path: Path,
) -> None:
    head = '<meta name="DC.identifier" content="https://doi.org/10.1234/Rate">'
    page = site.text(
        "/a", f"<html><head>{head}</head><body><p>{FIVE}</p></body></html>", Content_Type="text/html"
    )
    fact_id = await say(page, FIVE)
    index.text("/crossref/works/10.1234/rate", crossref(RETRACTED))
    assert (await recheck()).retracted_sources == []
    assert index.requests == [], "an address of a private network is one's own, and so are its words"
    table = tmp_path / "kinds.toml"
    table.write_text('general = ["127.0.0.1"]\n')
    setting("SOURCE_KINDS", str(table))
    [retracted] = (await recheck()).retracted_sources
    assert (retracted.url, retracted.note) == (
        page, "10.1234/rate was retracted, says crossref, notice 10.1234/notice.",
    )  # fmt: skip
    assert (await details(pool, fact_id)).status == "superseded"


async def test_services_that_are_turned_off_are_not_asked(
    site: Site,
    index: Site,
    say: Callable[..., Any],
    recheck: Callable[..., Any],
    setting: Callable[..., None],
) -> None:
    setting("CROSSREF_URL", "none")
    setting("OPENALEX_URL", "none")
    await say(site.text("/10.1234/rate", FIVE), FIVE)
    assert ((await recheck()).retracted_sources, index.requests) == ([], [])


async def added(pool: Pool, folder: Path) -> list[str]:
    files = [file for file in read_folder(folder) if isinstance(file, FileDocument)]
    async with Session(pool) as session:
        addition = await Corpus(session).add("bank", files)
    return [*addition.new_urls, *addition.changed_urls]


async def test_files_of_the_corpus_are_read_again_where_they_are(
    pool: Pool, tmp_path: Path, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    folder = tmp_path / "notes"
    (folder / "hills").mkdir(parents=True)
    (folder / "rain.md").write_text(RAIN)
    (folder / "hills" / "snow fall.txt").write_text(SNOW)
    await added(pool, folder)
    rain = await say("corpus://bank/rain.md", RAIN)
    snow = await say("corpus://bank/hills/snow%20fall.txt", SNOW)
    assert (await recheck()).unchanged_sources == 2
    (folder / "rain.md").write_text("It rains on 150 days of the year.")
    (folder / "hills" / "snow fall.txt").unlink()
    outcome = await recheck()
    assert urls(outcome.changed_sources) == ["corpus://bank/rain.md"]
    assert urls(outcome.gone_sources) == ["corpus://bank/hills/snow%20fall.txt"]
    assert {fact.fact_id for fact in outcome.superseded_facts} == {rain, snow}
    assert len(await Corpus(Session(pool)).documents("bank")) == 1
    (folder / "rain.md").rename(tmp_path / "rain.md")
    folder.rename(tmp_path / "elsewhere")
    outcome = await recheck()
    assert "is not here" in next(one.note for one in outcome.unread_sources if one.url.endswith("rain.md"))
    assert await check_grounds(pool, ["corpus://bank/rain.md"]) == []


async def test_a_document_is_looked_up_in_the_subject_that_its_address_names(
    pool: Pool, tmp_path: Path, say: Callable[..., Any], embedder: Embedder
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "rain.md").write_text(RAIN)
    await added(pool, folder)
    rain = await say("corpus://bank/rain.md", RAIN)
    copy = await say("corpus://bank/rain.md", RAIN, subject_id="copy")
    outcome = await recheck_subject(pool, embedder, settings(), "copy")
    assert (outcome.unchanged_sources, outcome.gone_sources, outcome.unread_sources) == (1, [], [])
    assert [document["subject_id"] for document in await Corpus(Session(pool)).documents()] == ["bank"]
    (folder / "rain.md").unlink()
    outcome = await recheck_subject(pool, embedder, settings(), "copy")
    assert urls(outcome.gone_sources) == ["corpus://bank/rain.md"]
    assert {(await details(pool, fact_id)).status for fact_id in (rain, copy)} == {"superseded"}


async def test_a_document_of_a_corpus_elsewhere_is_left_alone(
    pool: Pool, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    async with Session(pool) as session:
        await Corpus(session).add_texts("weather", [("rain.md", "Rain", RAIN)])
    url = "corpus://weather/rain.md"
    fact_id = await say(url, RAIN)
    async with pool.connection() as connection:  # as after an import, which brings texts and no corpus
        await connection.execute("delete from documents")
    outcome = await recheck()
    assert (outcome.gone_sources, urls(outcome.unread_sources)) == ([], [url])
    assert (await details(pool, fact_id)).status == "accepted"


async def test_files_that_agents_read_are_read_again(
    pool: Pool, tmp_path: Path, embedder: Embedder, setting: Callable[..., None], recheck: Callable[..., Any],
    say: Callable[..., Any],
) -> None:  # fmt: skip
    setting("FILES", str(tmp_path))
    (tmp_path / "rain.txt").write_text(RAIN)
    async with Store(Session(pool), embedder) as store:
        read = await file_reader(store, path="rain.txt")
    assert urlsplit(read["url"]).scheme == "file"
    rain = await say(read["url"], RAIN)
    assert (await recheck()).unchanged_sources == 1
    (tmp_path / "rain.txt").unlink()
    outcome = await recheck()
    assert (urls(outcome.gone_sources), [fact.fact_id for fact in outcome.superseded_facts]) == (
        [read["url"]],
        [rain],
    )


def conditional(
    site: Site, path: str, body: str, etag: str = "", last_modified: str = ""
) -> tuple[str, list[int]]:
    """Answer a path with validators, and with 304 whoever has them already; its address, and the statuses it gave."""
    statuses: list[int] = []
    headers = {name: value for name, value in (("ETag", etag), ("Last-Modified", last_modified)) if value}

    def answer(request: web.Request) -> web.Response:
        asks = request.headers.get("If-None-Match", ""), request.headers.get("If-Modified-Since", "")
        is_same = asks[0] == etag if etag else asks[1] == last_modified
        statuses.append(304 if is_same and any(asks) else 200)
        if statuses[-1] == 304:
            return web.Response(status=304, headers=headers)
        return web.Response(text=body, headers=headers)

    site.answers[path] = answer
    return site.url + path, statuses


MONDAY, TUESDAY = "Mon, 02 Mar 2026 10:00:00 GMT", "Tue, 03 Mar 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("first", "second"),
    [({"etag": '"v1"'}, {"etag": '"v2"'}), ({"last_modified": MONDAY}, {"last_modified": TUESDAY})],
)
async def test_a_page_that_its_server_says_is_the_same_is_unchanged_and_read_in_full_once_it_is_not(
    pool: Pool,
    site: Site,
    say: Callable[..., Any],
    recheck: Callable[..., Any],
    first: dict[str, str],
    second: dict[str, str],
) -> None:
    page, statuses = conditional(site, "/a", FIVE, **first)
    fact_id = await say(page, FIVE)
    read_at = (await details(pool, fact_id)).assertions[0].fetched_at
    for _ in range(2):
        outcome = await recheck()
        assert (outcome.sources, outcome.unchanged_sources, outcome.unread_sources) == (1, 1, [])
    assert statuses == [200, 304, 304]
    async with Session(pool) as session:
        latest = await Sources(session).latest(page)
    assert latest is not None
    assert latest.text == FIVE
    assert read_at is not None
    assert latest.fetched_at > read_at, "it counts as read again"
    page, statuses = conditional(site, "/a", "All new.", **second)
    outcome = await recheck()
    assert statuses == [200]
    assert urls(outcome.changed_sources) == [page]
    assert (await details(pool, fact_id)).status == "superseded"


async def test_a_page_behind_a_redirect_is_asked_by_what_it_gave_itself(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    final, statuses = conditional(site, "/final", FIVE, etag='"v1"')
    asked: list[str] = []

    def redirect(request: web.Request) -> web.Response:
        asked.append(request.headers.get("If-None-Match", ""))
        return web.Response(status=302, headers={"Location": final})

    site.answers["/old"] = redirect
    await say(f"{site.url}/old", FIVE)
    async with pool.connection() as connection:  # as a fact of a version before cites it
        await connection.execute("update facts set source_url = %s", (f"{site.url}/old",))
    outcome = await recheck()
    assert (outcome.sources, outcome.unchanged_sources) == (1, 1)
    assert statuses == [200, 304]
    assert asked == ["", ""]


async def test_what_an_older_reader_has_read_is_read_in_full(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    page, statuses = conditional(site, "/a", FIVE, etag='"v1"')
    await say(page, FIVE)
    async with pool.connection() as connection:
        await connection.execute("update fetches set reader = reader - 1")
    await recheck()
    assert statuses == [200, 200]


async def test_a_page_that_was_gone_is_back_when_its_server_says_it_is_the_same(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    page, _ = conditional(site, "/a", FIVE, etag='"v1"')
    fact_id = await say(page, FIVE)
    del site.answers["/a"]
    assert urls((await recheck()).gone_sources) == [page]
    _, statuses = conditional(site, "/a", FIVE, etag='"v1"')
    outcome = await recheck()
    assert (urls(outcome.back_sources), statuses) == ([page], [304])
    assert (await details(pool, fact_id)).status == "accepted"


def html_page(title: str, *sentences: str) -> str:
    return f"<html><head><title>{title}</title></head><body>{''.join(f'<p>{words}</p>' for words in sentences)}</body></html>"


CHECK = html_page(
    "Just a moment...", "Verifying you are human.", "The site reviews the security of your connection."
)
HOME = html_page("Welcome", "Our bank has moved to new rooms.", "Come and see us.")


async def test_a_check_for_robots_takes_nothing_from_facts(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    page = site.text("/a", html_page("Rates", FIVE, RAIN), Content_Type="text/html")
    fact_id = await say(page, FIVE)
    site.text("/a", CHECK, Content_Type="text/html")
    for _ in range(2):
        outcome = await recheck()
        assert urls(outcome.unread_sources) == [page]
        assert "check for robots" in outcome.unread_sources[0].note
    assert (await details(pool, fact_id)).status == "accepted"
    assert "5 % a year" in (await latest_text(pool, page))


async def latest_text(pool: Pool, url: str) -> str:
    snapshot = await Sources(Session(pool)).latest(url)
    assert snapshot
    return snapshot.text


async def make_older(pool: Pool) -> None:
    async with pool.connection() as connection:
        await connection.execute("update source_changes set at = at - interval '2 hours'")
        await connection.execute("update fetches set fetched_at = fetched_at - interval '2 hours'")


async def test_another_page_at_an_address_is_read_again_before_facts_lose_it(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    page = site.text("/a", html_page("Rates", FIVE, RAIN), Content_Type="text/html")
    fact_id = await say(page, FIVE)
    site.text("/a", HOME, Content_Type="text/html")
    first = await recheck()
    assert "Facts stay as they are until a later reading says the same" in first.changed_sources[0].note
    assert (await recheck()).superseded_facts == []
    assert (await details(pool, fact_id)).status == "accepted"
    await make_older(pool)
    later = await recheck()
    assert [fact.fact_id for fact in later.superseded_facts] == [fact_id]
    site.text("/a", html_page("Rates", FIVE, SNOW), Content_Type="text/html")
    assert (await recheck()).superseded_facts == []  # another page again, which waits as the other did
    await make_older(pool)
    assert [fact.fact_id for fact in (await recheck()).restored_facts] == [fact_id]


async def test_a_page_that_is_back_is_compared_with_what_facts_rest_on(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    page = site.text("/a", html_page("Rates", FIVE, RAIN), Content_Type="text/html")
    five, rain = await say(page, FIVE), await say(page, RAIN)
    site.text("/a", HOME, Content_Type="text/html")
    await recheck()
    site.text("/a", html_page("Rates", FIVE, SNOW), Content_Type="text/html")
    outcome = await recheck()
    assert [fact.fact_id for fact in outcome.superseded_facts] == [rain]
    assert "50 % of its sentences still stand" in outcome.changed_sources[0].note
    assert (await details(pool, five)).status == "accepted"


async def test_a_new_version_of_a_page_counts_at_once(
    pool: Pool, site: Site, say: Callable[..., Any], recheck: Callable[..., Any]
) -> None:
    page = site.text("/a", html_page("Rates", FIVE), Content_Type="text/html")
    fact_id = await say(page, FIVE)
    site.text("/a", html_page("Rates", "The rate of the bank is 6 % a year."), Content_Type="text/html")
    assert [fact.fact_id for fact in (await recheck()).superseded_facts] == [fact_id]
    assert (await details(pool, fact_id)).status == "superseded"
