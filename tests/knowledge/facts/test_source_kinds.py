"""Scores of sources within the bands of their kinds, from the claim to the stored assertion and back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg.sql import SQL
from support.verified_quotes import page_read, quoted

from chiron_api.transfer.exporting import exported
from chiron_api.transfer.importing import import_file
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts.additions import StoredFact
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.facts.quote_rechecks import recheck
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import FactStatus
from chiron_workers.store import Store
from chiron_workers.tools.knowledge import store_knowledge

CRUST = "The Moon's crust is 50 km thick on average."
PAPER, BLOG, POST = "https://arxiv.org/abs/1", "https://blog.example/", "https://www.reddit.com/r/moon"
SCORES = "select source_url, source_score, claimed_score, source_kind from assertions order by id"


@pytest.fixture(autouse=True)
def _shipped_table(setting: Callable[[str, str], None]) -> None:
    setting("SOURCE_KINDS", "")


async def add(pool: Pool, embedder: Embedder, url: str, score: float) -> StoredFact:
    claim = await quoted(pool, CRUST, source_url=url, source_score=score)
    async with Store(Session(pool), embedder) as store:
        return await store.facts.add(claim)


async def rows(pool: Pool, statement: str) -> list[dict[str, Any]]:
    return await Session(pool).rows(SQL(statement))


async def change(pool: Pool, statement: str) -> None:
    async with pool.connection() as connection:
        await connection.execute(SQL(statement))


async def recheck_all(pool: Pool, embedder: Embedder) -> tuple[int, int]:
    async with Store(Session(pool), embedder) as store:
        counts, _ = await recheck(store.facts, subject_id="moon")
    return counts.scores, counts.statuses


async def test_an_agent_that_claims_the_highest_score_for_an_unknown_page_does_not_carry_a_fact_alone(
    pool: Pool, embedder: Embedder
) -> None:
    first = await add(pool, embedder, BLOG, 1.0)
    assert (first.status, first.confidence) == (FactStatus.CANDIDATE, 0.6)
    await add(pool, embedder, POST, 1.0)
    paper = await add(pool, embedder, PAPER, 0.95)
    assert paper.status is FactStatus.ACCEPTED
    assert await rows(pool, SCORES) == [
        {"source_url": BLOG, "source_score": 0.6, "claimed_score": 1.0, "source_kind": "unknown"},
        {"source_url": POST, "source_score": 0.4, "claimed_score": 1.0, "source_kind": "user-generated"},
        {"source_url": PAPER, "source_score": 0.95, "claimed_score": 0.95, "source_kind": "academic"},
    ]


async def test_a_document_of_ones_own_counts_as_its_reader_finds_it(pool: Pool, embedder: Embedder) -> None:
    fact = await add(pool, embedder, "corpus://moon/paper.pdf", 0.92)
    assert (fact.status, fact.confidence) == (FactStatus.ACCEPTED, 0.92)


async def test_the_answer_to_a_store_says_what_kind_was_recognised_where_it_moves_the_score(
    pool: Pool, embedder: Embedder
) -> None:
    notes = []
    for url, score in ((POST, 0.9), (PAPER, 0.3), (BLOG, 0.9), ("https://lwn.net/1", 0.7)):
        await page_read(pool, url, CRUST)
        async with Store(Session(pool, Caller()), embedder) as store:
            receipt = await store_knowledge(
                store, content=CRUST, subject_id="moon", source_url=url, source_score=score, topic_path="crust",
                confidence=1.0, quote=CRUST,
            )  # fmt: skip
        notes.append(receipt.get("note", ""))
    assert (
        "Its source is user-generated, whose score is 0.2 to 0.4; so it counts with 0.40 instead of 0.90."
        in notes[0]
    )
    assert (
        "Its source is academic, whose score is 0.9 to 1; so it counts with 0.90 instead of 0.30." in notes[1]
    )
    assert (
        "Its source is of unknown kind, whose score is 0 to 0.6; so it counts with 0.60 instead of 0.90."
        in notes[2]
    )
    assert "Its source" not in notes[3]


async def test_a_fact_tells_the_kind_and_both_scores_of_each_source(pool: Pool, embedder: Embedder) -> None:
    fact = await add(pool, embedder, POST, 0.9)
    details = await load_details(Session(pool), UUID(fact.fact_id))
    [assertion] = details.assertions
    assert (assertion.source_kind, assertion.source_score, assertion.claimed_score) == (
        "user-generated",
        0.4,
        0.9,
    )
    assert "for it: reddit.com, user-generated (score 0.40)" in details.explanation


async def test_what_a_version_before_stored_is_bound_when_it_is_counted_and_stored_so_when_computed_anew(
    pool: Pool, embedder: Embedder
) -> None:
    fact = await add(pool, embedder, BLOG, 0.9)
    await change(
        pool,
        "update facts set source_kind = null, claimed_score = null, source_score = 0.9, confidence = 0.9, status = 'accepted'",
    )
    details = await load_details(Session(pool), UUID(fact.fact_id))
    assert (details.status, details.weight_for) == ("accepted", 0.6)
    assert details.assertions[0].source_kind == "unknown"
    assert await recheck_all(pool, embedder) == (1, 1)
    assert await rows(pool, SCORES) == [
        {"source_url": BLOG, "source_score": 0.6, "claimed_score": 0.9, "source_kind": "unknown"}
    ]
    assert await rows(pool, "select confidence, status from facts") == [
        {"confidence": 0.6, "status": "candidate"}
    ]
    assert await recheck_all(pool, embedder) == (0, 0)


async def test_a_table_of_ones_own_counts_for_what_is_stored_once_it_is_computed_anew(
    pool: Pool, embedder: Embedder, setting: Callable[[str, str], None], tmp_path: Path
) -> None:
    await add(pool, embedder, BLOG, 0.9)
    await add(pool, embedder, POST, 0.2)
    (tmp_path / "kinds.toml").write_text('expert = ["blog.example"]')
    setting("SOURCE_KINDS", str(tmp_path / "kinds.toml"))
    assert await recheck_all(pool, embedder) == (1, 1)
    assert [(row["source_score"], row["source_kind"]) for row in await rows(pool, SCORES)] == [
        (0.8, "expert"),
        (0.2, "user-generated"),
    ]
    assert await rows(pool, "select status from facts") == [{"status": "accepted"}]


async def test_an_export_carries_kind_and_scores_and_an_import_believes_its_own_table_alone(
    pool: Pool, embedder: Embedder, tmp_path: Path
) -> None:
    await add(pool, embedder, POST, 0.9)
    records = [record async for record in exported(pool, "moon", with_snapshots=True)]
    assertions: Any = records[-1]["assertions"]
    [assertion] = assertions
    names = ("source_score", "claimed_score", "source_kind")
    assert [assertion[name] for name in names] == [0.4, 0.9, "user-generated"]
    assertion |= {"source_score": 1.0, "claimed_score": 1.0, "source_kind": "academic"}
    file = tmp_path / "moon.jsonl"
    file.write_text("\n".join(json.dumps(record, default=str) for record in records))
    await change(pool, "delete from facts")
    await import_file(pool, embedder, file)
    assert await rows(pool, SCORES) == [
        {"source_url": POST, "source_score": 0.4, "claimed_score": 1.0, "source_kind": "user-generated"}
    ]
    assert await rows(pool, "select confidence, status from facts") == [
        {"confidence": 0.4, "status": "candidate"}
    ]
