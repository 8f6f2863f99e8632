"""From the schema as first released to this one, with runs in flight and workers of the version before at work."""

import asyncio
import json
from datetime import timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from support.run_harness import LEASE, Stage
from support.scripted_model import says, turn

from chiron_workers.batches.steering import resume, retry
from chiron_workers.db.connect import open_pool
from chiron_workers.db.migrate import migrate, migrations, pending
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError
from chiron_workers.ids import new_id
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.rescue import rescue
from chiron_workers.states import Outcome

RELEASED = Path(__file__).parent / "released" / "schema_0002"
OLD = {
    name: statement
    for noun in ("runs", "journal", "batches", "steering", "rescue", "events")
    for name, statement in load(str(RELEASED / f"{noun}.py")).items()
}
NOTHING_SPENT = dict.fromkeys(("input_tokens", "output_tokens", "cache_write_tokens", "cache_read_tokens"), 0)


@pytest.fixture
def database_url(released_url: str) -> str:
    """The same, brought up to date: `pool`, `settings` and `stage` work on it."""
    assert migrate(released_url) == [found.name for found in migrations() if found.version > 2]
    return released_url


@pytest.fixture
def stage(stage: Stage) -> Stage:
    stage.holds_events_to_models = False
    return stage


async def ids(stage: Stage) -> dict[str, UUID]:
    return {row["topic"]: row["id"] for row in await stage.rows("select id, topic from runs")}


def first_topic(request: dict[str, Any]) -> str:
    words = str(request["messages"][0])
    return next(
        topic for topic in ("told", "cancelled", "paused", "queued", "pending", "asking") if topic in words
    )


async def test_what_was_in_flight_is_played_to_the_end(stage: Stage) -> None:
    await stage.model(lambda request: says(f"The answer of {first_topic(request)}."))
    runs = await ids(stage)
    journal = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    await stage.rows(
        "update runs set leased_until = now() - interval '1 s' where state = 'running' returning 1"
    )
    assert await rescue(journal, may_rescue=lambda _: True) == 2
    await resume(stage.pool, runs["paused"])
    await retry(stage.pool, runs["cancelled"])
    await stage.rows("update runs set ready_at = now() where state = 'queued' returning 1")
    for topic in ("told", "cancelled", "paused", "queued", "pending", "asking"):
        assert await stage.play(runs[topic]) is Outcome.PLAYED, topic
        assert (await stage.row(runs[topic]))["answer"] == f"The answer of {topic}."
    assert stage.runs_of_tools == ["second-note"]  # the others had their results
    assert len(stage.server.requests) == 6  # one more reply each, and nothing answered is asked again
    states = {row["topic"]: row["state"] for row in await stage.rows("select topic, state from runs")}
    assert states.pop("failed") == "failed"
    assert set(states.values()) == {"completed"}
    kinds = [kind for run_id in runs.values() for kind in await stage.kinds(run_id)]
    assert kinds.count("batch.completed") == 1
    [sums] = await stage.rows(
        """select b.spent_usd, b.open_runs, (select sum(cost_usd) from entries) as paid,
                  (select sum(spent_usd) from runs) as of_runs
             from batches b"""
    )
    assert sums["open_runs"] == 0
    assert sums["spent_usd"] == sums["paid"] == sums["of_runs"] > 0


async def test_a_conversation_that_was_finished_before_goes_on(stage: Stage) -> None:
    from chiron_workers.runs.leases import say

    await stage.model(lambda request: says(f"turn {turn(request)}"))
    finished = (await ids(stage))["finished"]
    assert await say(stage.pool, finished, "Why?") is not None
    assert await stage.play(finished) is Outcome.PLAYED
    assert (await stage.row(finished))["answer"] == "turn 2"
    assert stage.server.requests[0]["messages"][-1]["content"][-1]["text"] == "Why?"


async def test_the_living_holders_get_time_to_report_back(released_url: str) -> None:
    migrate(released_url)
    with psycopg.connect(released_url) as connection:
        query = "select count(*) from runs where state = 'running' and leased_until > now() + interval '20 seconds'"
        assert connection.execute(query).fetchone() == (2,)


async def test_nothing_is_copied_and_all_rows_are_found_in_the_oldest_partition(stage: Stage) -> None:
    for table in ("entries", "tool_results", "events"):
        rows = await stage.rows(
            f"select tableoid::regclass::text as lies_in, count(*) as rows from {table} group by 1"  # noqa: S608
        )
        assert len(rows) == 1
        assert rows[0]["lies_in"].startswith(f"{table}_before_")
        assert rows[0]["rows"] > 0


async def test_a_run_in_flight_keeps_its_lease_through_each_step_of_an_upgrade(released_url: str) -> None:
    in_the_way = {"runs_rung": "0004_order", "vector_indexes": "0013_search"}
    connect = AsyncConnection.connect(released_url, autocommit=True, row_factory=dict_row)
    async with await connect as connection, open_pool(released_url, size=2) as pool:
        for table in in_the_way:
            await connection.execute(f"create table {table} (somebody_elses text)")
        for table, failing in in_the_way.items():
            running = await nearly_over(connection)
            with pytest.raises(ChironError, match=f"Migration {failing} fails"):
                await asyncio.to_thread(migrate, released_url)
            assert await held(connection) == running != []
            await connection.execute(f"drop table {table}")
        assert await nearly_over(connection) == running
        assert (await asyncio.to_thread(migrate, released_url))[0] == failing
        assert await held(connection) == running
        journal = Journal(pool, lambda _: None, lease_for=LEASE)
        assert await rescue(journal, may_rescue=lambda _: True) == 0


async def nearly_over(connection: AsyncConnection[DictRow]) -> list[DictRow]:
    query = (
        "update runs set leased_until = now() + interval '1 s' where state = 'running' returning id, lease"
    )
    return sorted(await (await connection.execute(query)).fetchall(), key=itemgetter("id"))


async def held(connection: AsyncConnection[DictRow]) -> list[DictRow]:
    query = "select id, lease from runs where state = 'running' and leased_until > now() + interval '20 s'"
    return sorted(await (await connection.execute(query)).fetchall(), key=itemgetter("id"))


class OldWorker:
    """A worker of the version before: its statements, word for word, with what it knew to give them."""

    def __init__(self, connection: AsyncConnection[DictRow]) -> None:
        self.connection = connection
        self.fence: dict[str, Any] = {}

    async def do(self, statement: str, /, **args: Any) -> list[DictRow]:
        cursor = await self.connection.execute(OLD[statement], self.fence | args)
        return await cursor.fetchall() if cursor.description else []

    async def submit(self, topic: str) -> tuple[UUID, UUID]:
        batch = {"id": new_id(), "name": topic, "subject_id": "physics", "priority": 0, "budget_usd": None}
        more = {"run_count": 1, "idempotency_key": None, "request_hash": "x"}
        run_id = new_id()
        async with self.connection.transaction():
            await self.do("insert", **batch, **more)
            async with self.connection.cursor() as cursor, cursor.copy(OLD["copy_runs"]) as copy:
                row = (run_id, batch["id"], "research", "physics", topic, "claude-opus-5-5", 0, 9, 1, None)
                await copy.write_row(row)
            await self.do("queued_events", batch_id=batch["id"])
        return batch["id"], run_id

    async def claim(self, run_id: UUID) -> DictRow:
        [row] = await self.do("claim", run_id=run_id, worker="old", lease_for=LEASE)
        self.fence = {"run_id": run_id, "lease": row["lease"], "lease_for": LEASE}
        return row

    async def append(self, n: int, kind: str, body: dict[str, Any], *, events: str = "") -> list[DictRow]:
        row = {"event_count": int(bool(events)), "kinds": events, "datas": "{}" if events else ""}
        return await self.do(
            "append", n=n, kind=kind, body=json.dumps(body), turns=int(kind == "reply"), cost_usd=0.001, **row, **NOTHING_SPENT
        )  # fmt: skip

    async def settle(self, n: int, call_id: str) -> list[DictRow]:
        result = {
            "call_id": call_id,
            "name": "note",
            "is_error": False,
            "body": "{}",
            "ms": 1,
            "facts": 0,
            "cost_usd": 0,
        }
        events = {"event_count": 1, "kinds": "tool.returned", "datas": "{}"}
        return await self.do("settle_call", n=n, **result, **events, **NOTHING_SPENT)

    async def release(self, state: str, kind: str) -> list[DictRow]:
        ending = {"state": state, "answer": None, "error": None, "ready_in": timedelta(), "counts": False}
        events = {"event_count": 1, "kinds": kind, "datas": "{}"}
        return await self.do("release", **ending, closes=state == "completed", **events)


@pytest.fixture
async def old_worker(stage: Stage) -> Any:
    async with stage.pool.connection() as connection:
        yield OldWorker(connection)


async def test_workers_of_the_version_before_go_on_after_the_migration(
    old_worker: OldWorker, stage: Stage
) -> None:
    old = old_worker
    batch_id, run_id = await old.submit("rolling")
    assert run_id in {row["id"] for row in await old.do("next_to_ring", limit=50, ring_again_after=LEASE)}
    assert (await old.claim(run_id))["event_kind"] == "run.started"
    assert await old.append(
        1, "opening", {"model": "claude-opus-5-5", "system": "s", "tools": [], "max_tokens": 9}
    )
    assert await old.append(2, "question", {"text": "rolling"})
    call = {"type": "tool_use", "id": "toolu_1", "name": "note", "input": {"words": "x"}}
    reply = {"stop_reason": "tool_use", "content": [call], "model": "m", "request_id": "r"}
    [row] = await old.append(3, "reply", reply, events="model.replied")
    assert not row["budget_reached"]
    assert await old.settle(3, "toolu_1")
    held = {"run_ids": [run_id], "leases": [1]}
    await old.do("renew", **held)
    assert await old.do("astray", **held) == []
    assert await old.do("lock")
    assert [found["n"] for found in await old.do("read")] == [1, 2, 3]
    assert len(await old.do("read_results")) == 1
    assert await old.do("entry_exists", n=3)
    assert await old.release("queued", "run.handed_back")
    assert (await old.claim(run_id))["event_kind"] == "run.resumed"
    await old.do("say", run_id=run_id, text="More.", message_id=new_id(), more_turns=9)
    async with old.connection.transaction():
        await old.do("take_messages", n=4, more_turns=9)
    async with old.connection.transaction():
        assert (await old.release("completed", "run.completed"))[0]["open_runs"] == 0
        await old.do("close_batch", batch_id=batch_id)
    [head] = await old.do("heads_of_run")
    found = await old.do("missing", run_ids=[run_id], seqs=[0], each=100)
    assert [event["seq"] for event in found] == list(range(1, head["seq"] + 1))
    assert (await stage.kinds(run_id))[-1] == "batch.completed"


async def test_a_worker_of_this_version_takes_over_from_one_before(
    old_worker: OldWorker, stage: Stage
) -> None:
    await stage.model(lambda _: says("Taken over."))
    _, run_id = await old_worker.submit("rolling")
    await old_worker.claim(run_id)
    opening = {"model": "claude-opus-5-5", "system": "s", "tools": [], "max_tokens": 9}
    assert await old_worker.append(1, "opening", opening)
    await old_worker.release("queued", "run.handed_back")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert await old_worker.append(2, "question", {"text": "late"}) == []  # its lease is over
    assert (await stage.row(run_id))["answer"] == "Taken over."


async def test_the_old_ways_of_steering_work_on_the_new_schema(old_worker: OldWorker) -> None:
    old = old_worker
    _, run_id = await old.submit("rolling")
    args: dict[str, Any] = {
        "id": run_id,
        "closes": False,
        "data": "{}",
        "kind": "run.paused",
        "wanted": "pause",
    }
    assert await old.do("hold", **args)
    assert await old.do("stop_waiting", **args, state="paused", from_states=["queued"])
    [row] = await old.do(
        "go_on", **args, from_states=["paused"], more_turns=9, rung_at_once=9, reason="resumed"
    )
    assert row["is_rung"]
    await old.claim(run_id)
    assert await old.do("want", **args)
    assert await old.do("expired", max_attempts=3, lease_for=LEASE, limit=9) == []


@pytest.mark.acceptance
async def test_runs_go_on_while_the_schema_changes_under_them(released_url: str) -> None:
    async def work(topic: str, stop: asyncio.Event) -> tuple[UUID, int]:
        connect = AsyncConnection.connect(released_url, autocommit=True, row_factory=dict_row)
        async with await connect as connection:
            old = OldWorker(connection)
            _, run_id = await old.submit(topic)
            await old.claim(run_id)
            n = 0
            while n < 20 or not stop.is_set():
                n += 1
                assert await _again(lambda n=n: old.append(n, "reply", {}, events="model.replied")), (
                    topic,
                    n,
                )
                assert await _again(lambda n=n: old.settle(n, f"toolu_{n}")), (topic, n)
                await _again(lambda: old.do("renew", run_ids=[run_id], leases=[1]))
                if n == 5:
                    under_way.release()
            return run_id, n

    stop, under_way = asyncio.Event(), asyncio.Semaphore(0)
    workers = [asyncio.create_task(work(f"w{number}", stop)) for number in range(4)]
    async with asyncio.timeout(90):
        for _ in workers:
            await under_way.acquire()
    applied = await asyncio.to_thread(migrate, released_url)
    assert applied == [found.name for found in migrations() if found.version > 2]
    stop.set()
    written = dict(await asyncio.gather(*workers))
    assert pending(released_url) == []
    with psycopg.connect(released_url) as connection:
        for table in ("entries", "tool_results"):
            rows = connection.execute(
                f"select run_id, count(*) from {table} where run_id = any(%s) group by 1",  # noqa: S608
                (list(written),),
            )
            assert dict(rows.fetchall()) == written
        query = "select run_id, count(*), max(seq) from events where run_id = any(%s) group by 1"
        for run_id, count, last in connection.execute(query, (list(written),)):
            assert count == last == 2 + 2 * written[run_id]


async def _again(write: Any) -> Any:
    # As the journal does: a deadlock or a lock timeout is an outage, and the write is repeated.
    for _ in range(10):
        try:
            return await write()
        except (psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable):
            await asyncio.sleep(0.1)
    return None
