"""Facts, runs, batches and reports by address, and progress for whoever waits."""

import json

import pytest
from mcp import Client
from mcp_server.conftest import KEY, Serving, Talking, over_http
from mcp_server.test_tools import text
from support.research_rows import Shelf
from support.verified_quotes import quoted

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.runs.session import Session
from chiron_workers.states import AccessScope
from chiron_workers.store import Store

RESEARCH = {"topics": ["What is a polynya?"], "subject": "Sea ice", "model": "offline"}
WORDS = "A polynya is open water within sea ice."


async def read(client: Client, address: str) -> str:
    [content] = (await client.read_resource(address)).contents
    return str(content.text)


async def stored_fact(pool: Pool, embedder: Embedder) -> str:
    async with Store(Session(pool), embedder) as store:
        return (await store.facts.add(await quoted(pool, WORDS, subject_id="sea-ice"))).fact_id


async def test_facts_research_and_reports_are_read_by_address(
    talking: Talking, pool: Pool, embedder: Embedder, shelf: Shelf
):
    async with talking() as client:
        templates = {
            template.uri_template for template in (await client.list_resource_templates()).resource_templates
        }
        assert {
            "chiron://facts/{id}",
            "chiron://batches/{id}/report",
            "chiron://subjects/{id}/report",
        } <= templates
        shelf.subject("sea-ice", "Sea ice")
        fact_id = await stored_fact(pool, embedder)
        started = json.loads(text(await client.call_tool("start_research", RESEARCH)))

        fact = json.loads(await read(client, f"chiron://facts/{fact_id}"))
        assert (fact["content"], fact["assertions"][0]["quote"]) == (WORDS, WORDS)
        batch = json.loads(await read(client, f"chiron://batches/{started['batch_id']}"))
        assert (batch["state"], batch["first_runs"][0]["id"]) == ("queued", started["run_ids"][0])
        run = json.loads(await read(client, f"chiron://runs/{started['run_ids'][0]}"))
        assert run["topic"] == RESEARCH["topics"][0]
        assert WORDS in await read(client, "chiron://subjects/sea-ice/report")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("chiron://facts/0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa", "There is no fact"),
        ("chiron://facts/nonsense", "id"),
        ("chiron://runs/0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa", "has the id"),
        ("chiron://subjects/no-such-thing/report", "no-such-thing"),
    ],
)
async def test_what_is_not_there_is_said(talking: Talking, address: str, words: str):
    async with talking() as client:
        with pytest.raises(Exception, match=words):
            await client.read_resource(address)


async def test_who_waits_for_research_hears_how_far_it_is(talking: Talking):
    async with talking() as client:
        started = json.loads(text(await client.call_tool("start_research", RESEARCH)))
        heard: list[tuple[float, float | None, str | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append((progress, total, message))

        await client.call_tool("get_run", {"id": started["batch_id"], "wait_s": 0.2}, progress_callback=hear)
        assert heard
        assert heard[0] == (0, 1, "0 of 1 runs have ended, 0 new facts")


async def test_research_of_somebody_else_is_not_there(serving: Serving, pool: Pool):
    secrets = {
        name: (await create_key(pool, NewKey(name, AccessScope.SUBMIT)))[0] for name in ("alice", "bob")
    }
    with serving(CHIRON_API_KEY=KEY) as url:
        async with over_http(url, key=secrets["alice"]) as alice:
            started = json.loads(text(await alice.call_tool("start_research", RESEARCH)))
            addresses = [f"chiron://batches/{started['batch_id']}", f"chiron://runs/{started['run_ids'][0]}"]
            addresses += [f"{address}/report" for address in addresses]
            for address in addresses:
                assert await read(alice, address)
        async with over_http(url, key=secrets["bob"]) as bob:
            for address in addresses:
                with pytest.raises(Exception, match=r"Nothing of yours|is no id|no batch and no run"):
                    await bob.read_resource(address)
