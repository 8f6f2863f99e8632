import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from psycopg.sql import SQL
from support.knowledge_tool_names import TWELVE

from chiron_workers.db.connect import Pool
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.runs.session import Caller, Session
from chiron_workers.sources.sources import Page, Sources
from chiron_workers.store import Store
from chiron_workers.tools import registry
from chiron_workers.tools.fact_search import vector_search
from chiron_workers.tools.knowledge import store_knowledge

Call = Callable[..., Awaitable[Any]]

URL = "https://example.org/moon"
TEXT = "The Moon is the only\n  natural satellite of Earth. It orbits at 384,400 km."


def fact(**fields: Any) -> dict[str, Any]:
    given = {
        "content": "The Moon orbits the Earth at 384,400 km.",
        "subject_id": "Moon",
        "source_url": URL,
        "source_score": "0.9",
        "topic_path": "orbit/distance",
        "confidence": "0.85",
    }
    return given | fields


@pytest.fixture
async def read(pool: Pool, in_a_run: Caller) -> str:
    """The source was read, by the run if there is one; the hash of its text."""
    async with Session(pool, in_a_run) as session:
        return await Sources(session).save(Page(URL, TEXT, "text/html", title="Moon"))


def test_the_twelve_knowledge_tools_are_offered_with_every_argument_described() -> None:
    offered = {tool.name: tool.definition() for tool in registry().all()}
    assert offered.keys() >= TWELVE
    for name in TWELVE:
        for argument, schema in offered[name]["input_schema"]["properties"].items():
            assert schema.get("description"), f"{name}.{argument}"


def test_the_description_says_that_a_fact_without_a_quote_stays_out_of_sight_and_how_to_see_it() -> None:
    described = " ".join(registry().get("store_knowledge").description.split())
    sentence = (
        "Without a quote that was found in a source which was read, a fact stays a candidate, out of sight: "
    )
    assert f"{sentence}vector_search shows it with candidates set to true." in described
    assert "candidates" in registry().get("vector_search").definition()["input_schema"]["properties"]


async def test_a_fact_is_stored_from_sloppy_arguments_and_found_again(call: Call, read: str) -> None:
    receipt = await call("store_knowledge", fact(contradictions="null", quote="orbits at 384,400 km"))
    assert receipt.pop("note").startswith("No model has judged")
    assert receipt == {
        "status": "stored",
        "subject_id": "moon",
        "topic_path": "orbit/distance",
        "fact_id": receipt["fact_id"],
        "confidence": 0.9,
        "verdict": "unchecked",
        "quote": "It orbits at 384,400 km.",
        "context": "The Moon is the only natural satellite of Earth.",
    }
    found = await call("vector_search", {"query": "how far is it?", "subject_id": "Moon", "top_k": "3"})
    assert json.loads(json.dumps(found)) == found
    assert [(one["id"], one["confidence"], one["quote"]) for one in found] == [
        (receipt["fact_id"], pytest.approx(0.9), "It orbits at 384,400 km.")
    ]


async def test_direct_calls_do_the_same(store: Store, read: str) -> None:
    receipt = await store_knowledge(
        store,
        content="The Moon orbits the Earth at 384,400 km.",
        subject_id="moon",
        source_url=URL,
        source_score=0.9,
        topic_path="orbit",
        confidence=0.9,
        quote="It orbits at 384,400 km.",
    )
    [found] = await vector_search(store, query="orbit", subject_id="moon")
    assert (found["id"], found["content"]) == (receipt["fact_id"], "The Moon orbits the Earth at 384,400 km.")


async def test_without_a_quote_a_fact_is_an_unverified_candidate_until_it_has_one(
    call: Call, read: str
) -> None:
    first = await call("store_knowledge", fact(confidence=1.0, quote=""))
    assert (first["status"], first["confidence"]) == ("candidate", 0.5)
    assert "It has no quote, so it is unverified, and its confidence at most 0.5." in first["note"]
    assert "out of sight, since what stands for it is not above 0.7" in first["note"]
    assert await call("vector_search", {"query": "distance", "subject_id": "moon"}) == []
    again = await call("store_knowledge", fact(quote="It orbits at 384,400 km."))
    assert (again["status"], again["fact_id"]) == ("joined", first["fact_id"])
    assert "The candidate is accepted now, with confidence 0.90." in again["note"]
    assert len(await call("vector_search", {"query": "distance", "subject_id": "moon"})) == 1
    third = await call("store_knowledge", fact(quote="It orbits at 384,400 km."))
    assert (third["status"], "note" in third) == ("duplicate", False)


async def test_a_source_that_was_never_read_verifies_nothing(call: Call) -> None:
    receipt = await call("store_knowledge", fact(quote="It orbits at 384,400 km."))
    assert receipt["status"] == "candidate"
    assert "rests on a source that was never read here" in receipt["note"]


async def test_what_the_fact_says_and_its_quote_does_not_is_pointed_out(call: Call, read: str) -> None:
    receipt = await call(
        "store_knowledge",
        fact(content="Since 1970 the Moon does not orbit at 384,400 km.", quote="It orbits at 384,400 km."),
    )
    assert "1970" in receipt["note"]
    assert "not" in receipt["note"]
    assert "384" not in receipt["note"]


async def test_a_contradiction_is_shown_to_who_stores_it(call: Call, pool: Pool, read: str) -> None:
    first = await call("store_knowledge", fact(quote="It orbits at 384,400 km."))
    async with Session(pool) as session:
        other = "The Moon orbits the Earth at 300,000 km."
        await Sources(session).save(Page("https://other.net/", other, "text/html"))
    second = await call("store_knowledge", fact(content=other, quote=other, source_url="https://other.net/"))
    [related] = second["related"]
    assert (related["fact_id"], related["relation"]) == (first["fact_id"], "contradicts")
    assert "384" in related["reason"]
    assert second["confidence"] == 0.45


async def test_within_a_run_a_source_must_have_been_read(call: Call, in_a_run: Caller) -> None:
    with pytest.raises(
        ToolError, match=f"source_url: {URL} was never read by this run; web_fetch that address first"
    ):
        await call("store_knowledge", fact(), in_a_run)


async def test_within_a_run_a_fact_remembers_what_it_rests_on(
    call: Call, pool: Pool, in_a_run: Caller, read: str
) -> None:
    quote = "only natural  satellite\nof Earth"
    receipt = await call("store_knowledge", fact(quote=quote, source_url=f"{URL}#top"), in_a_run)
    row = await Session(pool).row(
        SQL(
            "select id::text, snapshot_hash, run_id, call_id, quote, quote_start, quote_end, quote_state from facts"
        )
    )
    stands = "The Moon is the only\n  natural satellite of Earth."
    assert row == {
        "id": receipt["fact_id"],
        "snapshot_hash": read,
        "run_id": in_a_run.run_id,
        "call_id": "call-1",
        "quote": stands,
        "quote_start": 0,
        "quote_end": len(stands),
        "quote_state": "verified",
    }


async def test_an_earlier_text_of_the_source_still_verifies(
    call: Call, pool: Pool, in_a_run: Caller, read: str
) -> None:
    async with Session(pool) as session:
        await Sources(session).save(Page(URL, "The page says something else now.", "text/html"))
    receipt = await call("store_knowledge", fact(quote="It orbits at 384,400 km."), in_a_run)
    assert receipt["quote"] == "It orbits at 384,400 km."
    row = await Session(pool).row(SQL("select snapshot_hash from facts"))
    assert row == {"snapshot_hash": read}


async def test_what_others_read_is_nothing_that_a_run_can_quote(
    call: Call, pool: Pool, in_a_run: Caller
) -> None:
    private = "file:///home/anna/salaries.txt"
    async with Session(pool) as session:
        await Sources(session).save(Page(private, "The salary of Anna is 93,000 euros.", "text/plain"))
    for quote in ("The salary of Anna is 1 euro", "The salary of Anna"):
        with pytest.raises(ToolError, match="was never read by this run") as caught:
            await call("store_knowledge", fact(source_url=private, quote=quote), in_a_run)
        assert "93,000" not in str(caught.value)


async def test_what_the_batch_fetched_can_be_quoted_under_the_last_address(
    call: Call, pool: Pool, in_a_run: Caller
) -> None:
    async with Session(pool, in_a_run) as session:
        pages = [Page(url, TEXT, "text/html") for url in ("https://last.org/moon", "https://short.ly/1")]
        await Sources(session).save_all(pages)
    quote = "It orbits at 384,400 km."
    await call("store_knowledge", fact(source_url="https://SHORT.ly/1#top", quote=quote), in_a_run)
    assert await Session(pool).row(SQL("select source_url from facts")) == {
        "source_url": "https://last.org/moon"
    }


async def test_the_text_that_a_run_read_stands_however_often_others_read_a_newer_one(
    call: Call, pool: Pool, in_a_run: Caller, read: str
) -> None:
    for n in range(8):
        async with Session(pool) as session:
            await Sources(session).save(Page(URL, f"Another text, version {n}.", "text/html"))
    receipt = await call("store_knowledge", fact(quote="It orbits at 384,400 km."), in_a_run)
    assert receipt["status"] == "stored"


async def test_a_run_must_quote_unless_the_setting_says_otherwise(
    call: Call, in_a_run: Caller, read: str, setting: Callable[[str, str], None]
) -> None:
    with pytest.raises(ToolError, match=r"quote: is missing\. Give the passage of the source"):
        await call("store_knowledge", fact(), in_a_run)
    setting("REQUIRE_QUOTES", "false")
    setting("UNVERIFIED_CONFIDENCE_MAX", "0.3")
    assert (await call("store_knowledge", fact(), in_a_run))["confidence"] == 0.3


async def test_a_quote_that_does_not_stand_in_the_source_is_refused_with_the_nearest_passage(
    call: Call, pool: Pool, in_a_run: Caller, read: str
) -> None:
    with pytest.raises(ToolError, match=r"^quote: "):
        await call("store_knowledge", fact(quote="It orbits at 400,000 km."), in_a_run)
    assert await Session(pool).rows(SQL("select * from facts")) == []


async def test_a_run_writes_to_its_own_subject_only(call: Call, in_a_run: Caller, read: str) -> None:
    with pytest.raises(ToolValidationError, match="this run works on 'moon' and cannot write to 'mars'"):
        await call("store_knowledge", fact(subject_id="Mars"), in_a_run)


async def test_every_problem_names_its_argument(call: Call) -> None:
    with pytest.raises(ToolValidationError, match=r"confidence: must be a number from 0\S* to 1") as caught:
        await call("store_knowledge", fact(confidence="1.5"))
    assert caught.value.field == "confidence"
    with pytest.raises(ToolValidationError, match="source_url: is required"):
        await call("store_knowledge", {name: value for name, value in fact().items() if name != "source_url"})
    with pytest.raises(ToolValidationError, match="content: must not be empty"):
        await call("store_knowledge", fact(content=" "))
    with pytest.raises(ToolValidationError, match="top_k: must be a whole number from 1 to 100"):
        await call("vector_search", {"query": "x", "subject_id": "moon", "top_k": 0})


async def test_a_text_the_embedded_model_serves_badly_is_noted(call: Call) -> None:
    receipt = await call("store_knowledge", fact(content="月は地球の唯一の自然衛星である。"))
    assert "CHIRON_EMBEDDING_PROVIDER" in receipt["note"]
