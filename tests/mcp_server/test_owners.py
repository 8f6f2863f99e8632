"""Whose research it is, over HTTP with a key."""

import json

import httpx2
import pytest
from mcp_server.conftest import KEY, Serving, over_http
from mcp_server.test_tools import text

from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope

RESEARCH = {"topics": ["What is a polynya?"], "subject": "Sea ice", "model": "offline"}


async def test_a_key_over_mcp_sees_and_ends_its_own_alone(serving: Serving, pool: Pool):
    secrets = {
        name: (await create_key(pool, NewKey(name, scope)))[0]
        for name, scope in (
            ("alice", AccessScope.SUBMIT),
            ("bob", AccessScope.SUBMIT),
            ("carol", AccessScope.READ),
        )
    }
    with serving(CHIRON_API_KEY=KEY) as url:
        async with over_http(url, key=secrets["alice"]) as alice:
            started = json.loads(text(await alice.call_tool("start_research", RESEARCH)))
            batch = {"id": started["batch_id"]}
            assert not (await alice.call_tool("get_run", batch)).is_error
        async with over_http(url, key=secrets["bob"]) as bob:
            for tool in ("get_run", "cancel_run", "get_report", "write_report"):
                refusal = await bob.call_tool(tool, batch)
                assert refusal.is_error
                assert f"Nothing of yours has the id {started['batch_id']}" in text(refusal)
            beginning = await bob.call_tool("get_run", {"id": started["batch_id"][:13]})
            assert "is no id" in text(beginning)
        async with over_http(url, key=secrets["carol"]) as carol:
            assert not (await carol.call_tool("list_subjects", {})).is_error
            for tool, arguments in (
                ("start_research", RESEARCH),
                ("set_active_subject", {"subject_id": "sea-ice"}),
            ):
                refusal = await carol.call_tool(tool, arguments)
                assert "may read" in text(refusal)
        async with over_http(url, key=KEY) as local:
            assert not (await local.call_tool("cancel_run", batch)).is_error
    entries = await newest_entries(pool, limit=10)
    assert [(entry.owner, entry.action, entry.target) for entry in entries] == [
        ("local", "runs.cancel", started["batch_id"]),
        ("alice", "batches.submit", started["batch_id"]),
    ]


async def test_a_key_that_is_unknown_is_refused_before_any_message(serving: Serving):
    with serving(CHIRON_API_KEY=KEY) as url, pytest.raises(BaseException):  # noqa: B017  # the client's own group
        async with over_http(url, key="chiron_nobody") as client:
            await client.list_tools()


async def test_a_session_is_unknown_to_every_key_but_the_one_that_began_it(serving: Serving, pool: Pool):
    secrets = {
        name: (await create_key(pool, NewKey(name, AccessScope.SUBMIT, owner=owner)))[0]
        for name, owner in (("alice", "team"), ("carol", "team"), ("bob", "bob"))
    }
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    list_tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with serving(CHIRON_API_KEY=KEY) as url:
        async with httpx2.AsyncClient(timeout=60, trust_env=False) as http:

            async def send(name: str, method: str, body: object = None, session: str = "") -> httpx2.Response:
                headers = {
                    "Authorization": f"Bearer {secrets[name]}",
                    "Accept": "application/json, text/event-stream" if body else "text/event-stream",
                    **({"Mcp-Session-Id": session} if session else {}),
                }
                return await http.request(method, url, headers=headers, json=body)

            session = (await send("alice", "POST", begin)).headers["Mcp-Session-Id"]
            note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            assert (await send("alice", "POST", note, session)).status_code == 202
            for stranger in ("bob", "carol"):
                assert (await send(stranger, "POST", list_tools, session)).status_code == 404
                assert (await send(stranger, "GET", session=session)).status_code == 404
                assert (await send(stranger, "DELETE", session=session)).status_code == 404
            assert (await send("alice", "POST", list_tools, session)).status_code == 200
