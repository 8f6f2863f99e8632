"""What becomes of sources is seen when they are fetched again, and held against the facts that rest on them."""

import asyncio
import hashlib
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
import zstandard
from psycopg.types.json import Json
from support.run_harness import Stage
from support.scripted_sites import Site

from chiron_workers.errors import ToolError
from chiron_workers.ids import new_id
from chiron_workers.knowledge import transfers
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.subject_diff import between
from chiron_workers.runs.session import Caller, Session
from chiron_workers.sources.changes import SourceChange, SourceChanges
from chiron_workers.sources.sources import Sources
from chiron_workers.store import Store
from chiron_workers.tools.web import FetchedPage, web_fetch

ICE = "The extent of the ice is 4.3 million square kilometres."
THICK = "It is two metres thick."
OLD = f"Ice.\n\n{ICE} {THICK}\n\nIt floats."


async def read(stage: Stage, url: str, offset: int = 0) -> FetchedPage:
    """What a run of a new batch is told."""
    (run_id,) = await stage.submit("ice")
    run = await stage.claim(run_id)
    caller = Caller("local", run.id, run.batch_id, "call-1", run.subject_id)
    async with Store(Session(stage.pool, caller), stage.embedder) as store:
        return await web_fetch(store, url=url, offset=offset)


async def fact(stage: Stage, url: str, quote: str | None, **columns: Any) -> str:
    """A fact that rests on the latest text of an address."""
    source = await Sources(Session(stage.pool)).latest(url)
    assert source
    start = source.text.find(quote) if quote else -1
    row: dict[str, Any] = {
        "id": new_id(), "subject_id": "physics", "content": f"{quote} {new_id()}", "quote": quote, "source_url": url,
        "source_score": 0.9, "topic_path": "ice", "confidence": 0.9, "status": "accepted",
        "snapshot_hash": source.hash, "quote_state": "verified" if start >= 0 else "unverified",
        "quote_start": start if start >= 0 else None, "quote_end": start + len(quote or "") if start >= 0 else None,
        **columns,
    }  # fmt: skip
    await stage.rows(
        "insert into facts (id, subject_id, content, quote, source_url, source_score, topic_path, confidence, status,"
        " snapshot_hash, quote_state, quote_start, quote_end) select r.id, r.subject_id, r.content, r.quote, r.source_url,"
        " r.source_score, r.topic_path, r.confidence, r.status, r.snapshot_hash, r.quote_state, r.quote_start, r.quote_end"
        " from json_populate_record(null::facts, %s) r returning 1",
        Json({key: str(value) if key == "id" else value for key, value in row.items()}),
    )
    return str(row["id"])


async def page_and_fact(stage: Stage, site: Site) -> tuple[str, str]:
    """The address of a page that was read, and the id of a fact that quotes it."""
    page = site.text("/ice", OLD)
    await read(stage, page)
    return page, await fact(stage, page, ICE)


async def change_of(stage: Stage, url: str) -> SourceChange:
    return (await SourceChanges(Session(stage.pool)).of([url]))[url]


async def changes(stage: Stage) -> list[str]:
    return [row["kind"] for row in await stage.rows("select kind from source_changes order by at, id")]


async def test_a_page_that_gives_another_text_has_changed_and_says_which_quotes_no_longer_stand(
    stage: Stage, site: Site
) -> None:
    page = site.text("/ice", OLD)
    assert "changed" not in await read(stage, page)
    stays, lost = await fact(stage, page, THICK), await fact(stage, page, ICE)
    await fact(stage, page, None)
    site.text("/ice", OLD.replace("4.3", "4.4"))
    told = (await read(stage, page))["changed"]
    assert "(75 % of its sentences still stand): 3 facts rest on the older text" in told
    assert told.endswith(f"and the quote of 1 no longer stands ({lost}).")
    change = await change_of(stage, page)
    assert (change.kind, change.facts, change.lost_facts) == ("changed", 3, (lost,))
    assert change.mark(lost).endswith("the quote no longer stands there")
    assert change.mark(stays) == ""
    marks = [
        (await load_details(Session(stage.pool), UUID(one))).assertions[0].source_mark
        for one in (lost, stays)
    ]
    # The sentence before its quote is another one now.
    doubt = "context changed: the quote still stands there, the words around it have changed"
    assert marks == [change.mark(lost), doubt]
    [kept] = await stage.rows("select quote, snapshot_hash from facts where id = %s", lost)
    assert (kept["quote"], kept["snapshot_hash"] != change.hash) == (ICE, True), "it keeps what it rests on"


async def test_words_that_were_never_found_in_a_source_are_not_lost_when_it_changes(
    stage: Stage, site: Site
) -> None:
    page = site.text("/ice", OLD)
    await read(stage, page)
    verified, never = await fact(stage, page, ICE), await fact(stage, page, "It sinks like a stone.")
    site.text("/ice", "All new.")
    told = (await read(stage, page))["changed"]
    assert f"2 facts rest on the older text, and the quote of 1 no longer stands ({verified})" in told
    change = await change_of(stage, page)
    assert (change.lost, change.mark(never)) == ((verified,), "")


async def test_a_page_that_says_what_it_said_has_not_changed(stage: Stage, site: Site) -> None:
    page = site.text("/ice", OLD)
    for _ in range(3):
        assert "changed" not in await read(stage, page)
    assert await changes(stage) == []
    assert await SourceChanges(Session(stage.pool)).of([page]) == {}


async def test_a_change_is_recorded_once_and_told_again_only_while_quotes_are_lost(
    stage: Stage, site: Site
) -> None:
    page = site.text("/ice", OLD)
    await read(stage, page)
    await fact(stage, page, THICK)
    site.text("/ice", OLD + " Read 2 times.")
    first, *others = [await read(stage, page) for _ in range(3)]
    assert (
        "(100 % of its sentences still stand): 1 fact rests on the older text, and every quote still stands."
        in first["changed"]
    )
    assert [other.get("changed") for other in others] == [None, None]
    site.text("/ice", "All new.")
    told = [(await read(stage, page))["changed"] for _ in range(2)]
    assert all("the quote of 1 no longer stands" in each for each in told)
    assert await changes(stage) == ["changed", "changed"]


async def test_runs_of_many_batches_that_see_a_change_at_once_record_it_once(
    stage: Stage, site: Site
) -> None:
    page = site.text("/ice", OLD)
    await read(stage, page)
    site.text("/ice", "All new.")
    await asyncio.gather(*(read(stage, page) for _ in range(5)))
    assert await changes(stage) == ["changed"]


@pytest.mark.parametrize("status", [404, 410, 451])
async def test_a_page_that_is_not_there_any_more_is_gone_and_back_when_it_answers(
    stage: Stage, site: Site, status: int
) -> None:
    page, fact_id = await page_and_fact(stage, site)
    for _ in range(2):
        site.text("/ice", "", status=status)
        with pytest.raises(
            ToolError, match=rf"answered {status} .*what it said then is kept, and 1 fact rests on it\."
        ):
            await read(stage, page)
    gone = await change_of(stage, page)
    assert (gone.kind, gone.hash, gone.facts, gone.lost_facts) == ("gone", None, 1, (fact_id,))
    assert gone.mark(fact_id).startswith("source gone since 20")
    assert f"answered {status}" in gone.reason
    site.text("/ice", OLD)
    assert "This source answers again, and says again what it said" in (await read(stage, page))["changed"]
    back = await change_of(stage, page)
    assert (back.kind, back.agreement, back.lost, back.mark(fact_id)) == ("back", 1, (), "")
    assert await changes(stage) == ["gone", "back"]
    site.text("/ice", "", status=status)
    with pytest.raises(ToolError):
        await read(stage, page)
    assert await changes(stage) == ["gone", "back", "gone"], "it may go again"


async def test_a_page_that_is_back_with_other_words_is_told_as_both(stage: Stage, site: Site) -> None:
    page = site.text("/ice", OLD)
    await read(stage, page)
    stays, lost = await fact(stage, page, THICK), await fact(stage, page, ICE)
    site.text("/ice", "", status=410)
    with pytest.raises(ToolError, match="410"):
        await read(stage, page)
    gone = await change_of(stage, page)
    site.text("/ice", OLD.replace("4.3", "4.4"))
    told = (await read(stage, page))["changed"]
    assert "answers again, and has changed" in told
    assert f"the quote of 1 no longer stands ({lost})" in told
    back = await change_of(stage, page)
    assert (back.mark(stays), back.mark(lost).endswith("no longer stands there")) == ("", True)
    [source] = (await between(Session(stage.pool), "physics", gone.at)).sources
    assert (source.kind, set(source.fact_ids), source.lost_fact_ids) == ("back", {stays, lost}, [lost])


async def imported(stage: Stage, url: str, text: str) -> None:
    """As if an import had brought that somebody else has read this there, just now."""
    async with Session(stage.pool) as session:
        digest = hashlib.sha256(text.encode()).hexdigest()
        kept = {
            "hash": digest,
            "body": zstandard.compress(text.encode()),
            "chars": len(text),
            "content_type": "text/plain",
        }
        await transfers.add(session, "texts", [kept])
        fetch = {
            "id": new_id(),
            "url": url,
            "hash": digest,
            "published_at": None,
            "fetched_at": datetime.now(UTC),
            "left_out": None,
        }
        await transfers.add(
            session,
            "fetches",
            [fetch | dict.fromkeys(("title", "author", "licence", "doi"), "") | {"authors": None}],
        )


@pytest.mark.parametrize("elsewhere", [OLD, "All new."])
async def test_that_a_source_was_gone_here_is_seen_whatever_an_import_brings(
    stage: Stage, site: Site, elsewhere: str
) -> None:
    page, fact_id = await page_and_fact(stage, site)
    site.text("/ice", "", status=404)
    with pytest.raises(ToolError, match="404"):
        await read(stage, page)
    gone = await change_of(stage, page)
    await imported(stage, page, elsewhere)
    with pytest.raises(ToolError, match="404"):
        await read(stage, page)
    assert await change_of(stage, page) == gone, "gone since then"
    site.text("/ice", OLD)
    assert "This source answers again, and says again what it said" in (await read(stage, page))["changed"]
    assert (await changes(stage), (await change_of(stage, page)).mark(fact_id)) == (["gone", "back"], "")


async def test_words_that_were_lost_here_stay_lost_whatever_an_import_brings_until_they_are_read_again(
    stage: Stage, site: Site
) -> None:
    page, fact_id = await page_and_fact(stage, site)
    site.text("/ice", "All new.")
    await read(stage, page)
    await imported(stage, page, OLD)
    await read(stage, page)
    assert (await change_of(stage, page)).lost_facts == (fact_id,)
    site.text("/ice", OLD)
    await read(stage, page)
    assert (await change_of(stage, page)).mark(fact_id) == ""
    assert await changes(stage) == ["changed", "changed"]


async def test_an_error_of_the_network_or_a_server_is_no_disappearance(
    stage: Stage, site: Site, setting: Any
) -> None:
    page = site.text("/ice", OLD)
    await read(stage, page)
    for status in (500, 503, 403, 429, 401):
        site.text("/ice", "", status=status)
        with pytest.raises(ToolError, match=str(status)):
            await read(stage, page)
    site.text("/ice", "<html><body></body></html>")
    with pytest.raises(ToolError, match="no readable text"):
        await read(stage, page)
    setting("FETCH_TIMEOUT_S", "0.2")
    heard = site.silent("/ice")
    with pytest.raises(ToolError, match="did not answer in full"):
        await read(stage, page)
    setting("FETCH_TIMEOUT_S", "20")
    heard.set()
    site.text("/robots.txt", "User-agent: *\nDisallow: /")
    await stage.rows("delete from robots returning 1")
    with pytest.raises(ToolError, match="robots"):
        await read(stage, page)
    assert await changes(stage) == []


async def test_what_was_never_read_cannot_be_gone(stage: Stage, site: Site) -> None:
    with pytest.raises(ToolError, match=r"answered 404 Not Found\.$"):
        await read(stage, f"{site.url}/nowhere")
    assert await changes(stage) == []


async def test_both_addresses_of_a_page_that_moved_are_watched(stage: Stage, site: Site) -> None:
    page = site.text("/ice", OLD)
    moved = site.text("/old", "", status=301, Location="/ice")
    await read(stage, moved)
    fact_id = await fact(stage, moved, ICE)
    site.text("/ice", "All new.")
    # Nobody cites the address that the page has now.
    assert "no longer stand" not in (await read(stage, moved))["changed"]
    assert (await change_of(stage, moved)).lost_facts == (fact_id,)
    del site.answers["/ice"]
    with pytest.raises(ToolError, match="404"):
        await read(stage, moved)
    found = await SourceChanges(Session(stage.pool)).of([moved, page])
    assert [found[url].kind for url in (moved, page)] == ["gone", "gone"]


async def test_a_change_that_nobody_has_looked_at_is_looked_at_with_the_next_reading(
    stage: Stage, site: Site
) -> None:
    page, fact_id = await page_and_fact(stage, site)
    site.text("/ice", "All new.")
    await read(stage, page)
    await stage.rows("update source_changes set checked_at = null, facts = 0 returning 1")
    await stage.rows("delete from lost_grounds returning 1")
    assert not (await change_of(stage, page)).is_checked
    assert f"the quote of 1 no longer stands ({fact_id})" in (await read(stage, page))["changed"]


async def test_an_address_too_long_to_be_read_has_no_changes(stage: Stage) -> None:
    assert await SourceChanges(Session(stage.pool)).of(["https://example.org/" + "ä" * 1_500]) == {}


async def test_a_deleted_fact_takes_its_marks_along(stage: Stage, site: Site) -> None:
    page, fact_id = await page_and_fact(stage, site)
    site.text("/ice", "All new.")
    await read(stage, page)
    await stage.rows("delete from facts where id = %s returning 1", fact_id)
    assert (await change_of(stage, page)).lost == ()
