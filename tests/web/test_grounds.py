"""A source never contradicts itself: what it says no more is superseded, by what it says now where that is stored."""

from typing import Any

import pytest
from support.run_harness import Stage
from support.scripted_sites import Site

from chiron_workers.db.validation import parse_id
from chiron_workers.errors import ToolError
from chiron_workers.knowledge.facts.fact_details import FactDetails, load_details
from chiron_workers.knowledge.facts.grounds import settle_grounds
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Sources
from chiron_workers.store import Store
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.web.fetch import fetch_page, save_page

FIVE, SIX = "The rate of the bank is 5 % a year.", "The rate of the bank is 6 % a year."
REST = "Deposits are insured by the state."


async def read(stage: Stage, url: str) -> str:
    async with Store(Session(stage.pool), stage.embedder) as store:
        return (await fetch_page(store, url)).text


async def say(stage: Stage, url: str, content: str, **more: Any) -> dict[str, Any]:
    async with Store(Session(stage.pool), stage.embedder) as store:
        return await store_knowledge(
            store, content=content, quote=more.pop("quote", content), subject_id="bank", source_url=url, source_score=0.9,
            topic_path="rate", confidence=0.9, **more,
        )  # fmt: skip


async def details(stage: Stage, fact_id: str) -> FactDetails:
    return await load_details(Session(stage.pool), parse_id(fact_id, field="id"))


async def found(stage: Stage, *, candidates: bool = False) -> list[str]:
    async with Store(Session(stage.pool), stage.embedder) as store:
        facts = await store.search.find(
            "rate of the bank", filters=Filters("bank", candidates=candidates), limit=5
        )
    return sorted(one["id"] for one in facts)


async def page_and_fact(stage: Stage, site: Site, path: str = "/rate") -> tuple[str, str]:
    page = site.text(path, f"{FIVE} {REST}")
    await read(stage, page)
    return page, (await say(stage, page, FIVE))["fact_id"]


async def test_a_fact_whose_words_are_gone_from_its_source_is_superseded_until_they_come_back(
    stage: Stage, site: Site
) -> None:
    page, five = await page_and_fact(stage, site)
    assert await found(stage) == [five]
    site.text("/rate", REST)
    await read(stage, page)
    fact = await details(stage, five)
    assert (fact.status, fact.confidence, fact.superseded_by) == ("superseded", 0.5, None)
    assert fact.assertions[0].ground == "source changed"
    assert fact.history[-1].reason == f"source changed: {page}"
    assert (await found(stage), await found(stage, candidates=True)) == ([], [five])
    site.text("/rate", f"{REST} {FIVE}")
    await read(stage, page)
    fact = await details(stage, five)
    assert (fact.status, fact.assertions[0].ground) == ("accepted", "stands")
    assert fact.confidence == pytest.approx(0.9)
    assert fact.history[-1].reason == f"source says so again: {page}"


async def test_what_the_source_says_now_takes_the_place_of_what_it_said_and_does_not_contradict_it(
    stage: Stage, site: Site
) -> None:
    page, five = await page_and_fact(stage, site)
    site.text("/rate", f"{SIX} {REST}")
    await read(stage, page)
    receipt = await say(stage, page, SIX, contradictions=[five])
    assert (receipt["status"], "related" in receipt) == ("stored", False)
    assert f"takes the place of fact {five}" in receipt["note"]
    old, new = await details(stage, five), await details(stage, receipt["fact_id"])
    assert (old.status, old.superseded_by, old.related) == ("superseded", receipt["fact_id"], ())
    assert (new.status, new.related) == ("accepted", ())
    assert await found(stage) == [receipt["fact_id"]]
    site.text("/rate", f"{FIVE} {REST}")
    await read(stage, page)
    old, new = await details(stage, five), await details(stage, receipt["fact_id"])
    assert (old.status, old.superseded_by) == ("accepted", None)
    assert (new.status, new.superseded_by) == ("superseded", five)


async def test_a_fact_that_another_source_still_bears_out_stays(
    stage: Stage, site: Site, other_site: Site
) -> None:
    page, five = await page_and_fact(stage, site)
    other, _ = await page_and_fact(stage, other_site, "/other")
    site.text("/rate", f"{SIX} {REST}")
    await read(stage, page)
    fact = await details(stage, five)
    assert (fact.status, [one.ground for one in fact.assertions]) == (
        "accepted",
        ["source changed", "stands"],
    )
    assert [one.source_url for one in fact.assertions] == [page, other]
    six = (await say(stage, page, SIX))["fact_id"]
    assert [one.fact_id for one in (await details(stage, five)).related] == [six], (
        "the other source says otherwise"
    )


async def test_a_page_that_is_gone_takes_its_facts_along_and_brings_them_back(
    stage: Stage, site: Site
) -> None:
    page, five = await page_and_fact(stage, site)
    del site.answers["/rate"]
    with pytest.raises(ToolError, match="404"):
        await read(stage, page)
    fact = await details(stage, five)
    assert (fact.status, fact.assertions[0].ground) == ("superseded", "source gone")
    site.text("/rate", f"{FIVE} {REST}")
    await read(stage, page)
    assert (await details(stage, five)).status == "accepted"


async def test_what_was_superseded_contradicts_nothing(stage: Stage, site: Site, other_site: Site) -> None:
    page, five = await page_and_fact(stage, site)
    other = other_site.text("/other", f"{SIX} {REST}")
    await read(stage, other)
    six = (await say(stage, other, SIX))["fact_id"]
    assert {(await details(stage, one)).status for one in (five, six)} == {"disputed"}
    site.text("/rate", REST)
    await read(stage, page)
    assert ((await details(stage, five)).status, (await details(stage, six)).status) == (
        "superseded",
        "accepted",
    )
    async with Store(Session(stage.pool), stage.embedder) as store:
        facts = await store.search.find("rate", filters=Filters("bank"), limit=5)
    assert [(one["id"], one["contradicted_by"]) for one in facts] == [(six, [])]


async def test_the_same_words_said_again_in_a_later_text_bear_the_fact_out_again(
    stage: Stage, site: Site
) -> None:
    page, five = await page_and_fact(stage, site)
    for n in range(3):
        site.text("/rate", f"{REST} {n}")
        await read(stage, page)
        assert (await details(stage, five)).status == "superseded"
        longer = f"In all branches {FIVE[0].lower()}{FIVE[1:-1]}, number {n}."
        site.text("/rate", f"{longer} {REST}")
        await read(stage, page)
        assert (await say(stage, page, FIVE, quote=longer))["fact_id"] == five
        assert (await details(stage, five)).status == "accepted"


async def test_another_text_of_the_same_bytes_is_no_change_of_the_source(stage: Stage) -> None:
    url = "https://example.org/power"
    async with Session(stage.pool) as session:
        await Sources(session).save(Page(url, "It yields 37 units of power.", "text/html", raw_hash="aa"))
    fact_id = (await say(stage, url, "It yields 37 units of power."))["fact_id"]
    for text, raw_hash, status in (
        ("It yields 3^7 units of power.", "aa", "accepted"),
        ("It yields 3 units of power, at most.", "aa", "accepted"),
        ("It yields 3 units of power.", "bb", "superseded"),
        ("It yields three units of power.", "bb", "superseded"),
        ("It yields 37 units of power.", "bb", "accepted"),
    ):
        async with Store(Session(stage.pool), stage.embedder) as store:
            await save_page(store, Page(url, text, "text/html", raw_hash=raw_hash))
        assert (await details(stage, fact_id)).status == status, text


async def test_the_letters_are_enough_where_an_older_reader_read_the_text(stage: Stage) -> None:
    url = "https://example.org/power"
    quote = "It yields 1.01 × 105 units."
    async with Session(stage.pool) as session:
        await Sources(session).save(Page(url, quote, "text/html", reader=None))
    fact_id = (await say(stage, url, quote))["fact_id"]
    async with Store(Session(stage.pool), stage.embedder) as store:
        await save_page(store, Page(url, "It yields 1.01 × 10^5 units.", "text/html"))
        assert (await details(stage, fact_id)).status == "accepted"
        await save_page(store, Page(url, "It yields 1.01 × 10^6 units.", "text/html"))
    assert (await details(stage, fact_id)).status == "superseded"


async def test_a_fact_from_a_text_that_has_changed_already_is_superseded_at_the_next_look(
    stage: Stage, site: Site
) -> None:
    page = site.text("/rate", f"{FIVE} {REST}")
    await read(stage, page)
    site.text("/rate", REST)
    await read(stage, page)
    five = (await say(stage, page, FIVE))["fact_id"]
    rest = (await say(stage, page, REST))["fact_id"]
    assert (await details(stage, five)).status == "accepted"
    await read(stage, page)
    assert ((await details(stage, five)).status, (await details(stage, rest)).status) == (
        "superseded", "accepted",
    )  # fmt: skip


async def test_what_was_not_settled_is_settled_by_whoever_looks_next(stage: Stage, site: Site) -> None:
    page, five = await page_and_fact(stage, site)
    site.text("/rate", REST)
    await read(stage, page)
    await stage.rows("update facts set ground = 'stands', status = 'accepted' returning 1")
    assert [change.fact_id for change in await settle_grounds(stage.pool, [page])] == [five]
    assert (await details(stage, five)).status == "superseded"
    assert await settle_grounds(stage.pool, [page]) == []
