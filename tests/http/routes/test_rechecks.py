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


async def test_what_is_not_there_is_404(client: httpx2.AsyncClient):
    unknown = "/v1/rechecks/0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"
    assert (await client.get(unknown)).status_code == 404
    assert (await client.post("/v1/subjects/nothing/recheck")).status_code == 404
