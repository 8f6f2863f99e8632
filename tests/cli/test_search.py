import asyncio
import json
from collections.abc import Callable

import pytest
from support.verified_quotes import quoted
from typer.testing import Result

from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import open_embedder
from chiron_workers.runs.session import Caller, Session
from chiron_workers.store import Store

KEYS = ["id", "content", "quote", "source_url", "source_score", "topic_path", "confidence", "score"]
FACTS = (
    ("birds", "Ducks dive for food.", 0.9),
    ("birds", "Ducks can \x1b[31msleep with one eye open.", 0.3),
    ("python", "A generator yields values one at a time.", 0.9),
)


@pytest.fixture
def known(settings):
    """The facts above; the second is a candidate."""

    async def add() -> None:
        embedder = open_embedder(settings)
        async with (
            open_pool(settings.database_url, size=2) as pool,
            Store(Session(pool, Caller()), embedder) as store,
        ):
            for subject, content, score in FACTS:
                await store.subjects.ensure(subject, subject)
                fields = {
                    "subject_id": subject,
                    "topic_path": "a/b",
                    "source_score": score,
                    "quote": "As seen.",
                }
                await store.facts.add(
                    await quoted(pool, content, source_url="https://example.org/a", **fields)
                )
        await embedder.close()

    asyncio.run(add())


def test_the_nearest_facts_come_first_as_json(chiron, known):
    found = json.loads(chiron("search", "How do lazy iterators produce items?", "--json").stdout)
    assert set(KEYS) <= set(found[0])
    assert [one["content"] for one in found] == [FACTS[2][1], FACTS[0][1]]
    assert found[0]["score"] > found[1]["score"]
    assert (found[0]["quote"], found[0]["source_url"]) == ("As seen.", "https://example.org/a")


def test_a_subject_a_count_and_a_confidence_narrow_it(chiron, known):
    def contents(*arguments: str) -> list[str]:
        return [one["content"] for one in json.loads(chiron("search", "ducks", "--json", *arguments).stdout)]

    assert contents("--subject", "Birds") == [FACTS[0][1]]
    assert set(contents("--subject", "birds", "--candidates")) == {FACTS[0][1], FACTS[1][1]}
    assert contents("--candidates", "--min-confidence", "0.5", "--top-k", "1") == [FACTS[0][1]]


def test_people_read_the_fact_its_words_and_its_source(chiron, known):
    found = chiron("search", "sleeping ducks", "--candidates").stdout
    assert "Ducks can sleep with one eye open." in found
    assert "“As seen.”" in found
    assert "https://example.org/a  (confidence 0.30, similarity 0." in found
    assert found.startswith("  1  ")
    assert "1.000" not in found
    assert "\x1b" not in found


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
def test_a_query_without_meaning_finds_nothing(chiron: Callable[..., Result], known: None, mode: str) -> None:
    output = chiron("search", "x" * 2_000, "--mode", mode).stdout
    assert output.startswith("Nothing is known that fits.")


def test_facts_that_fit_in_neither_meaning_nor_words_are_not_printed(
    chiron: Callable[..., Result], known: None
) -> None:
    output = chiron("search", "How do lazy iterators produce items?").stdout
    assert FACTS[2][1] in output
    assert "Ducks" not in output
    assert FACTS[2][1] in chiron("search", "values", "--mode", "text").stdout


def test_nothing_found_is_said(chiron):
    assert "Nothing is known that fits" in chiron("search", "ducks").stdout
    assert json.loads(chiron("search", "ducks", "--json").stdout) == []
