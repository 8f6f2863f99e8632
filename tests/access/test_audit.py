"""An act and its entry in the audit trail are one transaction."""

from collections.abc import AsyncIterator

import httpx2
import psycopg
import pytest
from psycopg.sql import SQL
from support.api_server import api_client

from chiron_api.local_stack.access import api_key
from chiron_workers.access.audit import newest_entries
from chiron_workers.access.principals import LOCAL_OWNER
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.settings import Settings

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
    async with api_client(settings) as opened:
        opened.headers["Authorization"] = f"Bearer {api_key(settings)}"
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
            " (select count(*) from inbox) as messages"
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
    ]


async def test_what_cannot_be_recorded_is_not_done(pool: Pool, api: httpx2.AsyncClient):
    acts = await made(api)
    before = await states(pool)
    async with pool.connection() as connection:
        await connection.execute(SQL(REFUSING))
    for method, path, body in acts:
        answer = await api.request(method, path, json=body)
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
            assert (await api.request(method, path, json=body)).status_code < 400, (method, path)
        newest, *rest = await newest_entries(pool, limit=100)
        assert len(rest) + 1 == count + number, (method, path)
        assert newest.owner == LOCAL_OWNER
        assert newest.detail["via"] == "http"
        assert newest.target, (method, path)
