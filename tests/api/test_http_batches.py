import asyncio
import json
from uuid import UUID

import aiohttp
import psycopg
import pytest

from chiron_workers import settings as process_settings
from chiron_workers.ids import new_id
from chiron_workers.settings import Settings
from chiron_workers.store.connect import Pool

PROBLEM = "application/problem+json"
BATCH = {"topics": ["Closures", {"topic": "Decorators", "priority": 3}], "subject": "Python", "max_turns": 7}


@pytest.fixture(autouse=True)
def broker(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    """What rings reads the process's own settings."""
    monkeypatch.setenv("CHIRON_REDIS_URL", settings.redis_url)
    monkeypatch.setenv("CHIRON_DATABASE_URL", settings.database_url)
    process_settings.settings.cache_clear()
    yield
    process_settings.settings.cache_clear()


async def submitted(client: aiohttp.ClientSession, **headers: str) -> dict:
    answer = await client.post("/v1/batches", json=BATCH, headers=headers)
    assert answer.status == 202
    return await answer.json()


def finish(settings: Settings, run_id: str) -> None:
    """What the end of a run leaves in Postgres."""
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        connection.execute(
            """
            with ended as (
              update runs set state = 'completed', seq = seq + 1, finished_at = now() where id = %s
              returning id, seq, batch_id),
            open as (update batches set open_runs = open_runs - 1 where id = (select batch_id from ended))
            insert into events (run_id, seq, batch_id, kind, data)
            select id, seq, batch_id, 'run.completed', '{}' from ended
            """,
            (run_id,),
        )


async def stream(answer: aiohttp.ClientResponse) -> list[dict[str, str]]:
    """The events of a stream that ends, as fields by name; comments are left out."""
    text = (await answer.text()).replace("\r\n", "\n")
    blocks = [[line.split(": ", 1) for line in block.split("\n")] for block in text.strip().split("\n\n")]
    return [dict(block) for block in blocks if block[0][0]]


async def test_a_batch_is_taken_and_says_where_it_is(client: aiohttp.ClientSession):
    answer = await client.post("/v1/batches", json=BATCH)
    document = await answer.json()
    assert answer.status == 202
    assert answer.headers["Location"] == f"/v1/batches/{document['batch_id']}"
    assert len(document["run_ids"]) == 2

    batch = await (await client.get(answer.headers["Location"])).json()
    assert (batch["state"], batch["runs"]["queued"], batch["subject_id"]) == ("queued", 2, "python")
    run = await (await client.get(f"/v1/runs/{document['run_ids'][1]}")).json()
    assert (run["topic"], run["role"], run["model"], run["state"]) == (
        "Decorators",
        "research",
        "offline",
        "queued",
    )


async def test_the_workers_are_rung(client: aiohttp.ClientSession, settings: Settings):
    from redis import Redis

    with Redis.from_url(settings.redis_url) as redis:
        before = redis.llen("chiron")
        await submitted(client)
        assert redis.llen("chiron") == before + 2


async def test_without_a_broker_a_batch_is_taken_all_the_same(
    client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("CHIRON_REDIS_URL", "")
    monkeypatch.setenv("CHIRON_HOME", "/nonexistent")
    process_settings.settings.cache_clear()
    assert (await submitted(client))["batch_id"]
    assert "No broker" in caplog.text


async def test_the_same_key_gives_the_same_batch_and_refuses_another_body(client: aiohttp.ClientSession):
    first = await submitted(client, **{"Idempotency-Key": "monday"})
    again = await submitted(client, **{"Idempotency-Key": "monday"})
    assert again == first
    other = await client.post(
        "/v1/batches", json=BATCH | {"topics": ["Generators"]}, headers={"Idempotency-Key": "monday"}
    )
    assert other.status == 422
    assert "monday" in (await other.json(content_type=PROBLEM))["detail"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"topics": []}, "topics"),
        ({"budget_usd": 0}, "budget_usd"),
        ({"max_turns": "many"}, "max_turns"),
        ({"prioritiy": 3}, "prioritiy"),
        ({"subject": None}, "subject"),
    ],
)
async def test_a_wrong_batch_is_refused_with_the_field(
    client: aiohttp.ClientSession, change: dict, field: str
):
    answer = await client.post("/v1/batches", json=BATCH | change)
    document = await answer.json(content_type=PROBLEM)
    assert (answer.status, document["errors"][0]["field"]) == (422, field)
    assert (await (await client.get("/v1/batches")).json())["items"] == []


async def test_batches_come_in_pages_newest_first(client: aiohttp.ClientSession):
    sent = [(await submitted(client))["batch_id"] for _ in range(5)]
    read, after = [], {}
    for _ in range(3):
        page = await (await client.get("/v1/batches", params={"limit": 2, **after})).json()
        read += [batch["id"] for batch in page["items"]]
        after = {"after": page["next"]}
    assert read == sent[::-1]
    assert page["next"] is None


async def test_what_does_not_exist_is_404(client: aiohttp.ClientSession):
    nobody = new_id()
    for path in ("batches", "runs"):
        for found in (str(nobody), "no-id"):
            assert (await client.get(f"/v1/{path}/{found}")).status == 404
            assert (await client.get(f"/v1/{path}/{found}/events")).status == 404
    assert (await client.post(f"/v1/runs/{nobody}/messages", json={"text": "Hello"})).status == 404


async def test_the_stream_of_a_run_ends_after_its_final_event(
    client: aiohttp.ClientSession, settings: Settings
):
    run_id = (await submitted(client))["run_ids"][0]
    answer = await client.get(f"/v1/runs/{run_id}/events")
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    finish(settings, run_id)
    events = await asyncio.wait_for(stream(answer), timeout=20)
    assert [(event["id"], event["event"]) for event in events] == [
        ("1", "run.queued"),
        ("2", "run.completed"),
    ]
    assert json.loads(events[0]["data"])["run_id"] == run_id


async def test_a_reader_that_comes_back_goes_on_after_the_last_event_it_saw(
    client: aiohttp.ClientSession, settings: Settings
):
    run_id = (await submitted(client))["run_ids"][0]
    finish(settings, run_id)
    url = f"/v1/runs/{run_id}/events"
    assert [event["id"] for event in await stream(await client.get(url, headers={"Last-Event-ID": "1"}))] == [
        "2"
    ]
    assert [event["id"] for event in await stream(await client.get(url, params={"after": 1}))] == ["2"]
    assert (await client.get(url, headers={"Last-Event-ID": "2"})).status == 204
    assert (await client.get(url, headers={"Last-Event-ID": "two"})).status == 400


async def test_the_stream_of_a_batch_has_the_events_of_all_its_runs(
    client: aiohttp.ClientSession, settings: Settings
):
    document = await submitted(client)
    for run_id in document["run_ids"]:
        finish(settings, run_id)
    events = await stream(await client.get(f"/v1/batches/{document['batch_id']}/events"))
    kinds = sorted(event["event"] for event in events)
    assert kinds == ["run.completed", "run.completed", "run.queued", "run.queued"]
    assert {json.loads(event["data"])["run_id"] for event in events} == set(document["run_ids"])


async def test_a_quiet_stream_beats(client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chiron_api.streams.HEARTBEAT_S", 0.1)
    run_id = (await submitted(client))["run_ids"][0]
    async with client.get(f"/v1/runs/{run_id}/events") as answer:
        async with asyncio.timeout(10):
            while not (await answer.content.readline()).startswith(b": ping"):
                pass


async def test_a_message_waits_in_the_inbox_of_its_run(client: aiohttp.ClientSession, pool: Pool):
    run_id = (await submitted(client))["run_ids"][0]
    answer = await client.post(f"/v1/runs/{run_id}/messages", json={"text": "Look at nonlocal as well."})
    assert answer.status == 202
    async with pool.connection() as connection:
        rows = await (await connection.execute("select run_id, text from inbox")).fetchall()
    assert rows == [{"run_id": UUID(run_id), "text": "Look at nonlocal as well."}]
    assert (await client.post(f"/v1/runs/{run_id}/messages", json={"text": ""})).status == 422
