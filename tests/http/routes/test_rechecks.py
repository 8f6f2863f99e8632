import httpx2
from support.backdated_facts import Dated

from chiron_workers.db.connect import Pool


async def test_a_recheck_is_ordered_and_looked_at(client: httpx2.AsyncClient, pool: Pool):
    await Dated(pool).begin()
    answer = await client.post("/v1/subjects/ice/recheck")
    order = answer.json()
    assert (answer.status_code, order["state"], order["subject_id"]) == (202, "queued", "ice")
    assert (await client.get(answer.headers["location"])).json() == order
    assert (await client.post("/v1/subjects/ice/recheck")).json()["id"] == order["id"]
