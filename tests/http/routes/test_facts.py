import httpx2
from support.verified_quotes import quoted

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.runs.session import Session
from chiron_workers.store import Store

WORDS = "The Moon's crust is 50 km thick on average."


async def test_a_fact_shows_its_evidence_and_can_be_taken_out_and_brought_back(
    client: httpx2.AsyncClient, pool: Pool, embedder: Embedder
):
    async with Store(Session(pool), embedder) as store:
        stored = await store.facts.add(await quoted(pool, WORDS))
    url = f"/v1/facts/{stored.fact_id}"
    shown = (await client.get(url)).json()
    assert (shown["content"], shown["status"], shown["claimed_confidence"]) == (WORDS, "accepted", 0.9)
    [source] = shown["assertions"]
    assert (source["quote"], source["quote_start"], source["quote_end"]) == (WORDS, 0, len(WORDS))
    assert (await client.post(f"{url}/withdraw", json={"reason": "misread"})).json()["status"] == "withdrawn"
    back = (await client.post(f"{url}/reinstate", json={})).json()
    assert (back["status"], back["history"][1]["reason"]) == ("accepted", "withdrawn: misread")
