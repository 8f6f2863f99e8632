"""Who may call what over MCP: each tool and resource, with a key of each scope, of the owner and of a stranger."""

import json
from pathlib import Path

import pytest
from mcp_server.conftest import KEY, Serving, over_http
from mcp_server.test_tools import text

from chiron_api.mcp_server.tools import client_tools
from chiron_api.rights import OPERATIONS, of_tool
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope

SCOPES = list(AccessScope)
RESEARCH = {"topics": ["What is a polynya?"], "subject": "Sea ice", "model": "offline"}
# By each tool whose operation is about something that has an owner: the argument that names it.
OF_RUNS = {"get_run": "id", "get_report": "id", "cancel_run": "id", "write_report": "id"}
OF_SUBSCRIPTIONS = ("pause_subscription", "resume_subscription", "run_subscription")
SUBSCRIPTION = {"topics": ["craters"], "subject_id": "Moon", "cron": "0 9 * * MON"}
OF_QUIZZES = {"get_quiz": "quiz_id", "answer_question": "quiz_id", "settle_answer": "quiz_id"}
FURTHER = {
    "answer_question": {"question_id": "q", "response": "1"},
    "settle_answer": {"question_id": "q", "mark": "right"},
}


async def test_each_tool_needs_the_scope_that_the_table_says(
    serving: Serving, pool: Pool, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("The password of the door is 4711.")
    arguments = {
        "file_reader": {"path": str(tmp_path / "secret.txt")},
        "web_fetch": {"url": "https://example.org/"},
    }
    surprises = []
    with serving(CHIRON_API_KEY=KEY, CHIRON_FILES=str(tmp_path)) as url:
        for key_scope in SCOPES:
            secret, _ = await create_key(pool, NewKey(key_scope, key_scope))
            async with over_http(url, key=secret) as client:
                for tool in client_tools().all():
                    scope = of_tool(tool.name).scope
                    assert scope is not None
                    answer = text(await client.call_tool(tool.name, arguments.get(tool.name, {})))
                    is_refused = "needs one that may" in answer
                    if is_refused != (SCOPES.index(key_scope) < SCOPES.index(scope)):
                        surprises.append(f"{tool.name} to a key that may {key_scope}: {answer[:200]}")
                    if key_scope is AccessScope.READ:
                        assert "4711" not in answer
    assert surprises == []


async def test_what_has_an_owner_is_not_there_for_the_tools_and_resources_of_others(
    serving: Serving, pool: Pool
) -> None:
    owned = {
        face.removeprefix("mcp ")
        for operation in OPERATIONS
        if operation.is_owned
        for face in operation.faces
        if face.startswith("mcp ")
    }
    assert owned == OF_RUNS.keys() | OF_QUIZZES.keys() | set(OF_SUBSCRIPTIONS)
    secrets = {
        name: (await create_key(pool, NewKey(name, scope)))[0]
        for name, scope in (
            ("alice", AccessScope.SUBMIT),
            ("bob", AccessScope.SUBMIT),
            ("root", AccessScope.ADMIN),
        )
    }
    with serving(CHIRON_API_KEY=KEY) as url:
        async with over_http(url, key=secrets["alice"]) as alice:
            started = json.loads(text(await alice.call_tool("start_research", RESEARCH)))
            batch_id, [run_id] = started["batch_id"], started["run_ids"]
            made = json.loads(text(await alice.call_tool("create_subscription", SUBSCRIPTION)))
        addresses = [f"chiron://batches/{batch_id}", f"chiron://runs/{run_id}"]
        for name, is_hidden in (("bob", True), ("root", False), ("alice", False)):
            async with over_http(url, key=secrets[name]) as client:
                for tool, argument in OF_RUNS.items():
                    answer = text(await client.call_tool(tool, {argument: batch_id}))
                    assert ("Nothing of yours" in answer) == is_hidden, (name, tool, answer)
                for tool in OF_SUBSCRIPTIONS:
                    answer = text(await client.call_tool(tool, {"subscription_id": made["subscription_id"]}))
                    assert ("Nothing of yours" in answer) == is_hidden, (name, tool, answer)
                for address in addresses:
                    if is_hidden:
                        with pytest.raises(Exception, match="Nothing of yours"):
                            await client.read_resource(address)
                    else:
                        assert await client.read_resource(address)
