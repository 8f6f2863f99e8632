from datetime import UTC, datetime, timedelta
from uuid import UUID

import httpx2
import psycopg
import pytest
from support.research_rows import Shelf

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.ids import first_id, new_id
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

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


async def test_runs_are_listed_by_model_topic_age_and_owner(
    client: httpx2.AsyncClient, settings: Settings, shelf: Shelf, pool: Pool
):
    moss, batch = shelf.subject("moss"), shelf.batch("moss", "Moss")
    made_at = {"now": datetime.now(UTC), "last week": datetime.now(UTC) - timedelta(days=6)}
    names = {
        name: shelf.run(
            moss, batch, topic, number=n, id=UUID(int=first_id(made_at[age]).int + n), model=model
        )
        for n, (name, topic, age, model) in enumerate(
            (
                ("stone", "Which moss grows on stone?", "last week", "offline"),
                ("bark", "Does MOSS hurt bark, 100%?", "now", "claude-opus-5-5"),
            ),
            start=1,
        )
    }
    key, _ = await create_key(pool, NewKey("alice", AccessScope.SUBMIT))
    alice = {"Authorization": f"Bearer {key}"}
    hers = (await client.post("/v1/runs", json=RUN, headers=alice)).json()["run_id"]

    async def ids(headers: dict[str, str] | None = None, **params: str) -> list[str]:
        answer = await client.get("/v1/runs", params=params, headers=headers)
        return [run["id"] for run in answer.json()["items"]]

    stone, bark = str(names["stone"]), str(names["bark"])
    assert await ids(model="offline", subject="moss") == [stone]
    assert await ids(topic="moss") == [bark, stone]
    assert await ids(topic="100%") == [bark]
    assert await ids(topic="%") == [bark]
    assert await ids(subject="Moss", since="2d") == [bark]
    assert await ids(subject="Moss", since="7d") == [bark, stone]
    assert await ids(subject="Moss", since=datetime.now(UTC).date().isoformat()) in ([bark], [])
    assert await ids(since="1200-01-01", subject="moss") == [bark, stone]
    assert await ids(owner="alice") == [hers]
    assert await ids(owner="local", topic="stone") == [stone]
    assert await ids(alice) == [hers]
    assert await ids(alice, owner="local") == []
    refused = await client.get("/v1/runs", params={"since": "soon"})
    assert (refused.status_code, "yesterday" in refused.text) == (422, True)
