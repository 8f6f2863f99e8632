"""A run is named by its number in its batch wherever a path takes its id."""

import httpx2
import pytest

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.ids import new_id
from chiron_workers.states import AccessScope

BATCH = {"subject": "Sea ice", "topics": ["What is a polynya?", "What is frazil?"], "model": "offline"}


@pytest.fixture
async def receipt(client: httpx2.AsyncClient) -> dict[str, object]:
    answer: dict[str, object] = (await client.post("/v1/batches", json=BATCH)).json()
    return answer


@pytest.mark.parametrize("path", ["/v1/batches/{batch}/runs/2", "/v1/runs/{batch}%232"])
async def test_a_path_of_a_run_may_have_its_number(
    client: httpx2.AsyncClient, receipt: dict[str, object], path: str
) -> None:
    address, run_id = path.format(batch=receipt["batch_id"]), receipt["run_ids"][1]  # type: ignore[index]
    run = (await client.get(address)).json()
    assert (run["id"], run["number"], run["topic"]) == (run_id, 2, "What is frazil?")
    assert (await client.post(f"{address}/cancel")).json()["changed"] == 1
    assert (await client.get(f"/v1/runs/{run_id}")).json()["state"] == "cancelled"
    events = await client.get(f"{address}/events")
    assert "run.cancelled" in events.text
    assert (await client.get(f"{address}/report")).status_code == 200
    page = await client.get(address.removeprefix("/v1"), headers={"Accept": "text/html"})
    assert "#2 of" in page.text


async def test_a_number_that_no_run_has_is_not_found(
    client: httpx2.AsyncClient, receipt: dict[str, object]
) -> None:
    batch_id, run_ids = receipt["batch_id"], receipt["run_ids"]
    for path, words in {
        f"/v1/batches/{batch_id}/runs/3": "has no run #3; its last one is #2",
        f"/v1/batches/{new_id()}/runs/1": "There is no batch",
        f"/v1/batches/{run_ids[0]}/runs/1": "is a run",  # type: ignore[index]
    }.items():
        answer = await client.get(path)
        assert (answer.status_code, words in answer.json()["detail"]) == (404, True), answer.text
    for path in (
        f"/v1/batches/{batch_id}/runs/0",
        f"/v1/batches/{batch_id}/runs/x",
        "/v1/batches/last/runs/1",
    ):
        assert (await client.get(path)).status_code == 404


async def test_scope_owner_and_audit_trail_are_those_of_the_run(api: httpx2.AsyncClient, pool: Pool) -> None:
    async def headers(owner: str, scope: AccessScope) -> dict[str, str]:
        secret, _ = await create_key(pool, NewKey(f"{owner}-{scope}", scope, owner))
        return {"Authorization": f"Bearer {secret}"}

    alice = await headers("alice", AccessScope.SUBMIT)
    receipt = (await api.post("/v1/batches", json=BATCH, headers=alice)).json()
    path = f"/v1/batches/{receipt['batch_id']}/runs/1"
    assert (await api.get(path)).status_code == 401
    assert (await api.get(path, headers=await headers("bob", AccessScope.SUBMIT))).status_code == 404
    reader = await headers("alice", AccessScope.READ)
    assert (await api.get(path, headers=reader)).status_code == 200
    assert (await api.post(f"{path}/cancel", headers=reader)).status_code == 403
    assert (await api.post(f"{path}/cancel", headers=alice)).status_code == 202
    async with pool.connection() as connection:
        cursor = await connection.execute("select target from audit where action = 'runs.cancel'")
        assert [row["target"] for row in await cursor.fetchall()] == [receipt["run_ids"][0]]
