"""`chiron show FACT` and `chiron withdraw`: what a fact rests on, and taking it out."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from support.verified_quotes import quoted

from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import open_embedder
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import Settings
from chiron_workers.store import Store

THICK = "The Moon's crust is 50 km thick on average."
THIN = "The Moon's crust is 34 km thick on average."
Chiron = Callable[..., Any]


@pytest.fixture
def disputed(settings: Settings) -> list[str]:
    """The ids of two facts that contradict each other; the first stands in two sources and is accepted, the second disputed."""

    async def add() -> list[str]:
        embedder, ids = open_embedder(settings), []
        async with open_pool(settings.database_url, size=2) as pool:
            for content, url in (
                (THICK, "https://a.org/1"),
                (THICK, "https://b.com/2"),
                (THIN, "https://c.net/3"),
            ):
                async with Store(Session(pool, Caller()), embedder) as store:
                    ids.append((await store.facts.add(await quoted(pool, content, source_url=url))).fact_id)
        await embedder.close()
        return [ids[0], ids[2]]

    return asyncio.run(add())


def test_a_fact_shows_the_words_it_rests_on_and_the_sum_of_its_confidence(
    chiron: Chiron, disputed: list[str]
):
    shown = chiron("show", disputed[0]).stdout
    for line in (
        "status   accepted, confidence 0.60 (claimed 0.90)",
        f"1. “{THICK}”",
        "A page, https://a.org/1 (a document of one's own, score 0.90)",
        "characters 0 to 43 of snapshot ",
        "https://b.com/2",
        "2 independent origins x mean source score 0.90 / 3 assertions = 0.60",
        "for it: a.org, a document of one's own (score 0.90)",
        "against it: c.net, a document of one's own (score 0.90)",
        "net support: 1 - (1 - 0.99) / (1 - 0.90) = 0.90",
        "so it is accepted: 0.90 is above 0.7",
        f"contradicts: {THIN}",
        f"fact {disputed[1]} (disputed, 0.30), by the rules: ",
        "accepted 0.90  stored",
        f"accepted 0.60  held against the new fact {disputed[1]}",
    ):
        assert line in shown


def test_as_json_it_is_the_same(chiron: Chiron, disputed: list[str]):
    shown = json.loads(chiron("show", disputed[0], "--json").stdout)
    assert (shown["id"], shown["status"], shown["content"]) == (disputed[0], "accepted", THICK)
    assert [one["source_url"] for one in shown["assertions"]] == ["https://a.org/1", "https://b.com/2"]
    assert {one["quote_state"] for one in shown["assertions"]} == {"verified"}
    assert [(one["fact_id"], one["relation"]) for one in shown["related"]] == [(disputed[1], "contradicts")]
    assert [one["status"] for one in shown["history"]][-1] == "accepted"
    assert shown["reckoning"][0].endswith("= 0.60")
    assert [shown[f"weight_{name}"] for name in ("for", "against", "left")] == [0.99, 0.9, 0.9]


def test_a_withdrawn_fact_counts_against_nothing_and_comes_back(chiron: Chiron, disputed: list[str]):
    assert (
        "is withdrawn now; it was disputed" in chiron("withdraw", disputed[1], "--reason", "misread").stdout
    )
    assert "is withdrawn already" in chiron("withdraw", disputed[1]).stdout
    assert "accepted, confidence 0.90" in chiron("show", disputed[0]).stdout
    assert "withdrawn: misread" in chiron("show", disputed[1]).stdout
    assert [one["id"] for one in json.loads(chiron("search", "crust", "--json").stdout)] == [disputed[0]]
    undone = json.loads(chiron("withdraw", disputed[1], "--undo", "--json").stdout)
    assert undone == {"id": disputed[1], "status_before": "withdrawn", "status": "disputed"}
