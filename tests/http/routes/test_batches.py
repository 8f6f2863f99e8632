import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from uuid import UUID

import httpx2
import psycopg
import pytest
from redis import Redis

from chiron_workers.db.connect import Pool
from chiron_workers.ids import new_id
from chiron_workers.pubsub.signals import CHANNEL
from chiron_workers.settings import Settings

Serving = Callable[[Settings], AbstractAsyncContextManager[httpx2.AsyncClient]]
BATCH = {"topics": ["Closures", {"topic": "Decorators", "priority": 3}], "subject": "Python", "max_turns": 7}


async def submitted(client: httpx2.AsyncClient, **headers: str) -> dict:
    answer = await client.post("/v1/batches", json=BATCH, headers=headers)
    assert answer.status_code == 202
    return answer.json()


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
            select id, seq, batch_id, 'run.completed', '{"answer": ""}' from ended
            """,
            (run_id,),
        )


def events_in(text: str) -> list[dict[str, str]]:
    """The events of a stream that has ended, as fields by name; comments are left out."""
    blocks = text.replace("\r\n", "\n").strip().split("\n\n")
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks if block[0] != ":"]


async def test_a_batch_names_the_topics_that_are_the_same(client: httpx2.AsyncClient):
    answer = await client.post("/v1/batches", json=BATCH | {"topics": ["Ice", {"topic": " ice"}, "Snow"]})
    [warning] = answer.json()["warnings"]
    assert warning.startswith("Topics 1 and 2 are the same, “Ice”")
    assert "warnings" not in (await client.post("/v1/batches", json=BATCH)).json()
    refused = await client.post("/v1/batches", json=BATCH | {"topics": ["Ice", "\u2060"]})
    assert refused.status_code == 422
    assert "Topic 2: The topic is empty" in refused.json()["detail"]


async def test_a_receipt_says_what_is_new_and_what_was_answered_before(
    client: httpx2.AsyncClient, settings: Settings
):
    first = (await client.post("/v1/batches", json=BATCH)).json()
    assert first["new_subjects"] == [{"subject_id": "python", "similar": []}]
    finish(settings, first["run_ids"][1])
    keyed = {"Idempotency-Key": "k"}
    second = (await client.post("/v1/batches", json=BATCH | {"subject": "PYTHON"}, headers=keyed)).json()
    assert "new_subjects" not in second
    [entry] = second["earlier_answers"]
    assert (entry["number"], entry["run_id"], entry["run_number"]) == (2, first["run_ids"][1], 2)
    assert second["warnings"][0].startswith("Topic 2, “Decorators”, was answered before: run #2 of")
    again = (await client.post("/v1/batches", json=BATCH | {"subject": "PYTHON"}, headers=keyed)).json()
    assert again == second
    alone = (await client.post("/v1/runs", json={"topic": "Closures.", "subject": "Pythons"})).json()
    assert alone["new_subjects"][0]["similar"] == [{"subject_id": "python", "documents": 0}]


async def test_a_topic_has_a_context_of_its_own_or_that_of_its_batch(client: httpx2.AsyncClient):
    topics = ["Ice", {"topic": "Snow", "context": " Of lakes. "}, {"topic": "Rain", "context": ""}]
    body = BATCH | {"topics": topics, "context": "For children."}
    receipt = (await client.post("/v1/batches", json=body)).json()
    runs = [(await client.get(f"/v1/runs/{run_id}")).json() for run_id in receipt["run_ids"]]
    assert [run["context"] for run in runs] == ["For children.", "Of lakes.", None]
    assert [run["number"] for run in runs] == [1, 2, 3]
    too_long = await client.post("/v1/batches", json=body | {"context": "x" * 8_001})
    assert (too_long.status_code, too_long.json()["errors"][0]["field"]) == (422, "context")


async def test_a_batch_is_taken_and_says_where_it_is(client: httpx2.AsyncClient):
    answer = await client.post("/v1/batches", json=BATCH)
    document = answer.json()
    assert answer.status_code == 202
    assert answer.headers["Location"] == f"/v1/batches/{document['batch_id']}"
    assert len(document["run_ids"]) == 2

    batch = (await client.get(answer.headers["Location"])).json()
    assert (batch["state"], batch["runs"]["queued"], batch["subject_id"]) == ("queued", 2, "python")
    run = (await client.get(f"/v1/runs/{document['run_ids'][1]}")).json()
    assert (run["topic"], run["role"], run["model"], run["state"]) == (
        "Decorators",
        "research",
        "offline",
        "queued",
    )


async def test_the_workers_are_told(client: httpx2.AsyncClient, settings: Settings):
    with Redis.from_url(settings.redis_url) as redis, redis.pubsub() as pubsub:
        pubsub.subscribe(CHANNEL)
        pubsub.get_message(timeout=60)
        batch_id = (await submitted(client))["batch_id"]
        assert pubsub.get_message(timeout=60)["data"] == batch_id.encode()


async def test_without_redis_a_batch_is_taken_all_the_same(serving: Serving, keyless: Settings):
    for redis_url in ("", "redis://127.0.0.1:1"):
        async with serving(keyless.model_copy(update={"redis_url": redis_url})) as client:
            assert (await submitted(client))["batch_id"]


async def test_the_same_key_gives_the_same_batch_and_refuses_another_body(client: httpx2.AsyncClient):
    first = await submitted(client, **{"Idempotency-Key": "monday"})
    again = await submitted(client, **{"Idempotency-Key": "monday"})
    assert again == first
    other = await client.post(
        "/v1/batches", json=BATCH | {"topics": ["Generators"]}, headers={"Idempotency-Key": "monday"}
    )
    assert other.status_code == 422
    assert "monday" in other.json()["detail"]


async def test_a_wrong_batch_is_refused_with_the_field(client: httpx2.AsyncClient):
    wrong = {
        "topics": {"topics": []},
        "budget_usd": {"budget_usd": 0},
        "max_turns": {"max_turns": "many"},
        "prioritiy": {"prioritiy": 3},
        "subject": {"subject": None},
    }
    for field, change in wrong.items():
        answer = await client.post("/v1/batches", json=BATCH | change)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    assert (await client.get("/v1/batches")).json()["items"] == []


async def test_a_batch_may_start_later_and_play_few_at_once(client: httpx2.AsyncClient, pool: Pool):
    wanted = {"ready_at": "2026-03-01T09:30:00Z", "concurrency": 2}
    batch_id = (await client.post("/v1/batches", json=BATCH | wanted)).json()["batch_id"]
    batch = (await client.get(f"/v1/batches/{batch_id}")).json()
    assert (batch["concurrency"], datetime.fromisoformat(batch["ready_at"]) <= datetime.now(UTC)) == (2, True)
    for field, wrong in (("ready_at", "2026-03-01T09:30"), ("ready_at", 5), ("concurrency", 0)):
        answer = await client.post("/v1/batches", json=BATCH | {field: wrong})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


async def test_the_results_of_thousands_of_runs_are_one_line_each(
    client: httpx2.AsyncClient, settings: Settings
):
    body = BATCH | {"topics": [f"topic {n}" for n in range(1_234)]}
    document = (await client.post("/v1/batches", json=body)).json()
    finish(settings, document["run_ids"][0])
    answer = await client.get(f"/v1/batches/{document['batch_id']}/results")
    assert answer.headers["Content-Type"].startswith("application/jsonl")
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [one["id"] for one in found] == document["run_ids"]
    assert [one["state"] for one in found[:2]] == ["completed", "queued"]
    for unknown in (document["run_ids"][0], str(new_id()), "no-id"):
        assert (await client.get(f"/v1/batches/{unknown}/results")).status_code == 404


async def test_batches_come_in_pages_newest_first(client: httpx2.AsyncClient):
    sent = [(await submitted(client))["batch_id"] for _ in range(5)]
    read, after = [], {}
    for _ in range(3):
        page = (await client.get("/v1/batches", params={"limit": 2, **after})).json()
        read += [batch["id"] for batch in page["items"]]
        after = {"after": page["next"]}
    assert read == sent[::-1]
    assert page["next"] is None


async def test_a_stream_of_what_does_not_exist_is_404(client: httpx2.AsyncClient):
    nobody = new_id()
    for path in ("batches", "runs"):
        for found in (str(nobody), "no-id"):
            assert (await client.get(f"/v1/{path}/{found}/events")).status_code == 404


async def test_the_stream_of_a_run_ends_after_its_final_event(
    client: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("chiron_workers.pubsub.surveyor.READ_AGAIN_S", 0.1)  # nobody publishes what ends
    run_id = (await submitted(client))["run_ids"][0]
    url = f"/v1/runs/{run_id}/events?history=true"
    async with asyncio.timeout(60), client.stream("GET", url) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        finish(settings, run_id)
        events = events_in((await answer.aread()).decode())
    assert [(event["id"], event["event"]) for event in events] == [
        ("1", "run.queued"),
        ("2", "run.completed"),
    ]
    assert json.loads(events[0]["data"])["run_id"] == run_id


async def test_a_reader_that_comes_back_goes_on_after_the_last_event_it_saw(
    client: httpx2.AsyncClient, settings: Settings
):
    run_id = (await submitted(client))["run_ids"][0]
    finish(settings, run_id)
    url = f"/v1/runs/{run_id}/events"
    for rest in ({"headers": {"Last-Event-ID": "1"}}, {"params": {"after": 1}}):
        assert [event["id"] for event in events_in((await client.get(url, **rest)).text)] == ["2"]
    assert (await client.get(url, headers={"Last-Event-ID": "2"})).status_code == 204
    assert (await client.get(url, headers={"Last-Event-ID": "two"})).status_code == 400


async def test_the_stream_of_a_batch_has_the_events_of_all_its_runs(
    client: httpx2.AsyncClient, settings: Settings
):
    document = await submitted(client)
    for run_id in document["run_ids"]:
        finish(settings, run_id)
    url = f"/v1/batches/{document['batch_id']}/events?history=true"
    events = events_in((await client.get(url)).text)
    kinds = sorted(event["event"] for event in events)
    assert kinds == ["run.completed", "run.completed", "run.queued", "run.queued"]
    assert {json.loads(event["data"])["run_id"] for event in events} == set(document["run_ids"])


async def test_a_reader_of_a_batch_goes_on_after_any_event_it_saw(
    client: httpx2.AsyncClient, settings: Settings
):
    document = await submitted(client)
    for run_id in document["run_ids"]:
        finish(settings, run_id)
    url = f"/v1/batches/{document['batch_id']}/events"
    events = events_in((await client.get(url, params={"history": True})).text)
    assert len(events) == 4
    for position, event in enumerate(events[:-1], start=1):
        for rest in ({"headers": {"Last-Event-ID": event["id"]}}, {"params": {"after": event["id"]}}):
            assert events_in((await client.get(url, **rest)).text) == events[position:]
    assert (await client.get(url, headers={"Last-Event-ID": events[-1]["id"]})).status_code == 204
    other = await submitted(client)
    answer = await client.get(
        f"/v1/batches/{other['batch_id']}/events", headers={"Last-Event-ID": events[0]["id"]}
    )
    assert (answer.status_code, "another batch" in answer.json()["detail"]) == (400, True)


async def test_a_stream_begins_with_what_it_has_come_to_so_far(
    client: httpx2.AsyncClient, settings: Settings
):
    document = await submitted(client)
    for run_id in document["run_ids"]:
        finish(settings, run_id)
    batch_id, run_id = document["batch_id"], document["run_ids"][0]
    for path, runs in ((f"batches/{batch_id}", 2), (f"runs/{run_id}", 1)):
        snapshot, *events = events_in((await client.get(f"/v1/{path}/events")).text)
        described = json.loads(snapshot["data"])
        assert snapshot["event"] == described["kind"] == "snapshot"
        assert (described["batch_id"], described["run_id"]) == (batch_id, run_id if runs == 1 else None)
        assert (described["data"]["runs"]["completed"], described["data"]["left_out"]) == (runs, 0)
        assert len(events) == described["data"]["events"] == 2 * runs
        again = await client.get(f"/v1/{path}/events", headers={"Last-Event-ID": snapshot["id"]})
        assert sorted(event["data"] for event in events_in(again.text)) == sorted(
            event["data"] for event in events
        )


async def test_a_quiet_stream_beats(client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chiron_api.http.open_streams.HEARTBEAT_S", 0.1)
    run_id = (await submitted(client))["run_ids"][0]
    async with asyncio.timeout(60), client.stream("GET", f"/v1/runs/{run_id}/events") as answer:
        async for line in answer.aiter_lines():
            if line.startswith(": ping"):
                break


async def test_a_message_waits_in_the_inbox_of_its_run(client: httpx2.AsyncClient, pool: Pool):
    run_id = (await submitted(client))["run_ids"][0]
    answer = await client.post(f"/v1/runs/{run_id}/messages", json={"text": "Look at nonlocal as well."})
    assert answer.status_code == 202
    async with pool.connection() as connection:
        rows = await (await connection.execute("select run_id, text from inbox")).fetchall()
    assert rows == [{"run_id": UUID(run_id), "text": "Look at nonlocal as well."}]
    for text in ("", "x" * 100_001):
        assert (await client.post(f"/v1/runs/{run_id}/messages", json={"text": text})).status_code == 422


async def test_thinking_and_effort_are_those_of_the_topic_or_of_its_batch(
    client: httpx2.AsyncClient, pool: Pool
):
    topics = ["Closures", {"topic": "Decorators", "thinking": "between_tools", "effort": "low"}]
    body = BATCH | {"topics": topics, "effort": "high"}
    assert (await client.post("/v1/batches", json=body)).status_code == 202
    async with pool.connection() as connection:
        stored = await (await connection.execute("select thinking, effort from runs order by id")).fetchall()
    assert [tuple(row.values()) for row in stored] == [("auto", "high"), ("between_tools", "low")]
    for field in ("thinking", "effort"):
        answer = await client.post("/v1/batches", json=BATCH | {field: "much"})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


async def test_a_wrong_topic_is_named_by_its_place_in_plain_words(client: httpx2.AsyncClient):
    for wrong, field, words in (
        ("", "topics.1", "at least 1 character"),
        ({"topic": "b", "priority": "high"}, "topics.1.priority", "integer"),
        (7, "topics.1", "dictionary"),
    ):
        answer = await client.post("/v1/batches", json={"topics": ["a", wrong], "subject": "Python"})
        assert answer.status_code == 422
        [error] = answer.json()["errors"]
        assert error["field"] == field
        assert words in error["message"]
