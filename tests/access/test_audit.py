"""An act and its entry in the audit trail are one transaction."""

from collections.abc import AsyncIterator
from uuid import uuid4

import httpx2
import psycopg
import pytest
from psycopg.sql import SQL
from support.api_server import keyed_client

from chiron_workers.access.audit import Act, acting, long_command, newest_entries, record_within
from chiron_workers.access.principals import LOCAL_OWNER, Principal
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import Settings

GOAL = {"subject_id": "s", "purpose_statement": "Know moths."}
BATCH = {"subject": "S", "topics": ["A"], "model": "offline"}
REFUSING = """
create function refuse_entry() returns trigger language plpgsql as $$
begin
  raise exception 'no room' using errcode = 'disk_full';
end $$;
create trigger refuse_entry before insert on audit for each row execute function refuse_entry();
"""


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client with the key of this machine's user."""
    async with keyed_client(settings) as opened:
        yield opened


async def states(pool: Pool) -> dict[str, object]:
    """What the acts below change."""
    [row] = await fetch_all(
        pool,
        SQL(
            "select (select count(*) from batches) as batches, (select string_agg(state, ' ') from runs) as runs,"
            " (select count(*) from access_keys where revoked_at is null) as keys,"
            " (select count(*) from webhooks) as webhooks, (select count(*) from deliveries) as deliveries,"
            " (select string_agg(state, ' ') from subscriptions) as subscriptions,"
            " (select count(*) from inbox) as messages, (select count(*) from documents) as documents,"
            " (select count(*) from rechecks) as rechecks, (select purpose_statement from subjects) as goal,"
            " (select count(*) from facts where status = 'withdrawn') as withdrawn"
        ),
    )
    return dict(row)


async def made(api: httpx2.AsyncClient) -> list[tuple[str, str, object]]:
    """One of each, and what can be done to them: the method, the path and the body."""
    batch = (await api.post("/v1/batches", json=BATCH)).json()
    hook = (await api.post("/v1/webhooks", json={"url": "https://example.org/hook"})).json()
    subscription = {"subject": "S", "topics": ["A"], "cron": "0 6 * * *", "model": "offline"}
    recurring = (await api.post("/v1/subscriptions", json=subscription)).json()
    await api.post("/v1/keys", json={"name": "alice", "scope": "read"})
    return [
        ("POST", "/v1/batches", BATCH),
        ("POST", "/v1/runs", {"topic": "B", "subject": "S", "model": "offline"}),
        ("POST", f"/v1/runs/{batch['run_ids'][0]}/messages", {"text": "Look at moths, too."}),
        ("POST", f"/v1/batches/{batch['batch_id']}/pause", {}),
        ("POST", f"/v1/batches/{batch['batch_id']}/cancel", {}),
        ("POST", "/v1/webhooks", {"url": "https://example.org/other"}),
        ("POST", f"/v1/webhooks/{hook['id']}/test", None),
        ("DELETE", f"/v1/webhooks/{hook['id']}", None),
        ("POST", "/v1/subscriptions", subscription | {"topics": ["B"]}),
        ("POST", f"/v1/subscriptions/{recurring['id']}/pause", None),
        ("DELETE", f"/v1/subscriptions/{recurring['id']}", None),
        ("POST", "/v1/keys", {"name": "bob", "scope": "read"}),
        ("DELETE", "/v1/keys/alice", None),
        ("POST", "/v1/tools/save_learning_goal", GOAL),
        ("POST", "/v1/subjects/s/recheck", None),
        ("POST", "/v1/subjects/s/documents?path=notes.md", b"# Notes\n\nMoths fly at night.\n"),
    ]


async def send(api: httpx2.AsyncClient, method: str, path: str, body: object) -> httpx2.Response:
    if isinstance(body, bytes):
        headers = {"Content-Type": "text/markdown"}
        return await api.request(method, path, content=body, headers=headers)
    return await api.request(method, path, json=body)


async def test_what_cannot_be_recorded_is_not_done(pool: Pool, api: httpx2.AsyncClient):
    acts = await made(api)
    before = await states(pool)
    async with pool.connection() as connection:
        await connection.execute(SQL(REFUSING))
    for method, path, body in acts:
        answer = await send(api, method, path, body)
        assert answer.status_code >= 500, (method, path)
        assert await states(pool) == before, (method, path)


async def test_an_act_whose_server_dies_after_the_commit_is_in_the_trail_once(
    pool: Pool, api: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    acts = await made(api)
    count = len(await newest_entries(pool, limit=100))

    async def die(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("the server is gone")

    for number, (method, path, body) in enumerate(acts, start=1):
        with monkeypatch.context() as patch:
            if number % 2:
                patch.setattr("chiron_api.http.audit_trail.record", die)
            assert (await send(api, method, path, body)).status_code < 400, (method, path)
        newest, *rest = await newest_entries(pool, limit=100)
        assert len(rest) + 1 == count + number, (method, path)
        assert newest.owner == LOCAL_OWNER
        assert newest.detail["via"] == "http"
        assert newest.target, (method, path)


async def test_a_long_command_that_is_cut_leaves_its_begin_in_the_trail(pool: Pool):
    with pytest.raises(KeyboardInterrupt):
        async with long_command(pool, "facts.import", "s"):
            for title in ("A", "B"):
                async with Session(pool) as session:
                    await Subjects(session).ensure(title, title)
            raise KeyboardInterrupt
    [entry] = await newest_entries(pool, limit=10)
    assert (entry.action, entry.target) == ("facts.import", "s")
    assert entry.detail == {"via": "command", "phase": "begin"}


async def test_a_long_command_that_ends_says_what_came_of_it(pool: Pool):
    async with long_command(pool, "facts.import", "s") as ended:
        ended["facts"] = 3
    end, begin = await newest_entries(pool, limit=10)
    assert begin.detail["phase"] == "begin"
    assert end.detail == {"via": "command", "phase": "end", "facts": 3}


async def test_a_long_command_does_nothing_that_cannot_be_recorded(pool: Pool):
    async with pool.connection() as connection:
        await connection.execute(SQL(REFUSING))
    with pytest.raises(psycopg.errors.DiskFull):
        async with long_command(pool, "facts.import", "s"), Session(pool) as session:
            await Subjects(session).ensure("A", "A")
    assert await fetch_all(pool, SQL("select id from subjects")) == []


async def test_what_a_run_writes_while_somebody_acts_is_no_act_of_theirs(pool: Pool):
    act = Act(Principal(), "tools.call", "x")
    with acting(act):
        async with Session(pool, Caller(run_id=uuid4(), subject_id="a")) as session:
            await Subjects(session).ensure("A", "A")
    assert await newest_entries(pool, limit=10) == []


async def test_what_a_later_transaction_of_an_act_makes_is_added_to_its_entry(pool: Pool):
    with acting(Act(Principal(), "lessons.order")):
        async with Session(pool) as session:
            await Subjects(session).ensure("A", "A")
        async with pool.connection() as connection:
            await record_within(connection, lessons="one")
    [entry] = await newest_entries(pool, limit=10)
    assert entry.target == "one"
