import httpx2
import psycopg
import pytest

from chiron_workers.ids import new_id
from chiron_workers.settings import Settings

RUN = {"topic": "Closures", "subject": "Python", "max_turns": 7}


async def test_a_run_is_started_by_itself(client: httpx2.AsyncClient):
    answer = await client.post("/v1/runs", json=RUN | {"budget_usd": 2, "ready_at": "2026-03-01T09:30:00Z"})
    receipt = answer.json()
    assert (answer.status_code, answer.headers["Location"]) == (202, f"/v1/runs/{receipt['run_id']}")
    run = (await client.get(answer.headers["Location"])).json()
    assert (run["topic"], run["state"], run["budget_usd"]) == ("Closures", "queued", 2.0)
    assert run["batch_id"] == receipt["batch_id"]
    assert (await client.get(f"/v1/batches/{receipt['batch_id']}")).json()["runs"]["queued"] == 1


async def test_the_same_key_starts_the_same_run_and_refuses_another(client: httpx2.AsyncClient):
    headers = {"Idempotency-Key": "monday"}
    first = (await client.post("/v1/runs", json=RUN, headers=headers)).json()
    assert (await client.post("/v1/runs", json=RUN, headers=headers)).json() == first
    other = await client.post("/v1/runs", json=RUN | {"topic": "Decorators"}, headers=headers)
    assert (other.status_code, "monday" in other.json()["detail"]) == (422, True)


@pytest.mark.parametrize("field", ["topic", "subject"])
async def test_a_run_without_what_it_needs_is_refused_with_the_field(client: httpx2.AsyncClient, field: str):
    body = {name: value for name, value in RUN.items() if name != field}
    answer = await client.post("/v1/runs", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


async def test_runs_come_in_pages_newest_first(client: httpx2.AsyncClient):
    sent = [(await client.post("/v1/runs", json=RUN | {"topic": f"{n}"})).json()["run_id"] for n in range(5)]
    first = (await client.get("/v1/runs", params={"limit": 3})).json()
    rest = (await client.get("/v1/runs", params={"limit": 3, "after": first["next"]})).json()
    assert [run["id"] for run in first["items"] + rest["items"]] == sent[::-1]
    assert rest["next"] is None


async def test_runs_are_listed_by_batch_state_and_subject(client: httpx2.AsyncClient, settings: Settings):
    body = {"topics": ["Closures", "Decorators"], "subject": "Python"}
    batch = (await client.post("/v1/batches", json=body)).json()
    snake = (await client.post("/v1/runs", json=RUN | {"subject": "Snakes"})).json()
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        connection.execute("update runs set state = 'paused' where id = %s", (batch["run_ids"][0],))

    async def ids(**params: str) -> list[str]:
        return [run["id"] for run in (await client.get("/v1/runs", params=params)).json()["items"]]

    assert await ids(batch=batch["batch_id"]) == batch["run_ids"][::-1]
    assert await ids(state="paused") == batch["run_ids"][:1]
    assert await ids(subject="Snakes") == [snake["run_id"]]
    assert await ids(subject="Python", state="queued") == batch["run_ids"][1:]
    assert await ids(batch=str(new_id())) == []
    for wrong in ({"state": "asleep"}, {"batch": "x"}, {"limit": "0"}, {"colour": "red"}):
        answer = await client.get("/v1/runs", params=wrong)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, next(iter(wrong)))
