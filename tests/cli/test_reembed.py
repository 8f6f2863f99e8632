import asyncio
import json

import pytest
from support.facts_with_vectors import keep

from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import hosted


@pytest.fixture
def stored(settings):
    """Three facts of two subjects without a vector, as after a change of the embedding model."""

    async def add() -> None:
        async with open_pool(settings.database_url, size=2) as pool:
            for subject, content in (
                ("birds", "Ducks dive."),
                ("birds", "Owls hoot."),
                ("bees", "Bees dance."),
            ):
                await keep(pool, None, content, subject_id=subject)

    asyncio.run(add())


def embeddings(chiron) -> dict:
    checks = json.loads(chiron("doctor", "--json").stdout)["checks"]
    return next(check for check in checks if check["name"] == "embeddings")


def test_doctor_names_the_command_that_embeds_what_no_search_finds_by_meaning(chiron, stored):
    found = embeddings(chiron)
    assert not found["ok"]
    assert found["found"] == "3 facts have no vector of all-MiniLM-L6-v2: found by words alone."
    assert "chiron reembed" in found["advice"]
    done = json.loads(chiron("reembed", "--subject", "Birds", "--json").stdout)
    assert done == {"model": "all-MiniLM-L6-v2", "embedded": 2, "remaining": 0, "indexes": [], "dropped": []}
    told = chiron("reembed")
    assert told.stdout == "1 fact embedded with all-MiniLM-L6-v2, 0 left.\n"
    assert "1 of 1 fact embedded" in told.stderr
    assert embeddings(chiron)["ok"]


def test_a_dead_embedding_server_is_named_and_nothing_is_lost(chiron, stored, monkeypatch, rows):
    monkeypatch.setattr(hosted, "WAIT_S_MAX", 0.02)
    monkeypatch.setenv("CHIRON_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("CHIRON_EMBEDDING_MODEL", "m")
    monkeypatch.setenv("CHIRON_EMBEDDING_URL", "http://127.0.0.1:9")
    found = chiron("reembed")
    assert found.exit_code == 1
    assert "http://127.0.0.1:9/embeddings gave no embeddings in 4 tries" in found.stderr
    assert "Traceback" not in found.output
    assert rows("select count(*) from facts")[0]["count"] == 3


def test_old_vectors_are_not_dropped_for_one_subject_alone(chiron, stored):
    found = chiron("reembed", "--subject", "birds", "--drop-old")
    assert found.exit_code == 2
    assert "leave out --subject" in found.stderr
