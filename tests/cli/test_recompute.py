"""`chiron recompute`: what a version before has stored is counted as this one counts, and what changes by it is listed."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from support.verified_quotes import quoted

from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import open_embedder
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import Settings
from chiron_workers.store import Store

CRUST = "The Moon's crust is 50 km thick on average."
MARE = "The Moon has 14 seas of lava."
Chiron = Callable[..., Any]


@pytest.fixture
def fact_ids(settings: Settings) -> list[str]:
    """Two facts of a version that compared hosts: one from two domains of a broadcaster, the other from two repositories."""
    sources = (
        (CRUST, "https://www.bbc.com/moon"),
        (CRUST, "https://www.bbc.co.uk/crust"),
        (MARE, "https://github.com/alice/moon"),
        (MARE, "https://github.com/bob/seas"),
    )

    async def add() -> list[str]:
        embedder, ids = open_embedder(settings), []
        async with open_pool(settings.database_url, size=2) as pool:
            for content, url in sources:
                async with Store(Session(pool, Caller()), embedder) as store:
                    fact = await store.facts.add(
                        await quoted(pool, content, source_url=url, source_score=0.6)
                    )
                ids.append(fact.fact_id)
        await embedder.close()
        return ids[::2]

    ids = asyncio.run(add())
    with psycopg.connect(settings.database_url) as connection:
        connection.execute(
            "update facts set status = case id when %s then 'accepted' else 'candidate' end", [ids[0]]
        )
        connection.execute("update snapshots set sketch = null, studies = null")
    return ids


def test_facts_whose_status_changes_are_listed(chiron: Chiron, fact_ids: list[str]) -> None:
    lines = chiron("recompute").output.splitlines()
    assert lines == [
        "2 facts looked at, 0 quotes verified, 0 sources scored anew, 2 facts changed, the status of 2 among them.",
        f"  {CRUST}",
        f"        {fact_ids[0]} (moon): accepted, now candidate",
        f"  {MARE}",
        f"        {fact_ids[1]} (moon): candidate, now accepted",
    ]
    outcome = json.loads(chiron("recompute", "--json").stdout)
    assert (outcome["facts"], outcome["statuses"], outcome["status_changes"]) == (2, 0, [])
    shown = chiron("show", fact_ids[0]).output
    assert "for it: bbc.co.uk" in shown
    assert "2 sources count once: the same publisher" in shown
    assert "computed anew" in shown  # its history


def test_the_list_is_in_the_json(chiron: Chiron, fact_ids: list[str]) -> None:
    outcome = json.loads(chiron("recompute", "--subject", "moon", "--json").stdout)
    assert outcome["status_changes"][0] == {
        "fact_id": fact_ids[0],
        "subject_id": "moon",
        "content": CRUST,
        "status_before": "accepted",
        "status": "candidate",
    }
