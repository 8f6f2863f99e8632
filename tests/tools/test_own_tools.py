"""A tool of one's own: one new file in a folder named in the settings, and no other edit."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import forked_python
from support.scripted_model import Says, call, calls, says, scripted_model
from support.worker_processes import rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.settings import Settings
from chiron_workers.toolkit.registry import Registry
from chiron_workers.tools.own_tools import OwnTools

TOOL = '''
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

@tool
async def count_letters(store: Store, *, word: str) -> dict[str, int]:
    """Count the letters of a word."""
    return {"letters": len(word), "is_run": store.caller.run_id is not None}
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "letters.py").write_text(TOOL)
    return tmp_path


def chiron_tools(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chiron_api", "tools", *args]
    return forked_python.run(command, env=env, timeout=60)


@pytest.fixture
def env(folder: Path) -> dict[str, str]:
    return {**os.environ, "CHIRON_TOOLS": str(folder)}


def test_a_new_file_is_in_the_list_of_tools(env: dict[str, str]) -> None:
    done = chiron_tools("--json", **env)
    found = {one["name"]: one for one in json.loads(done.stdout)}
    assert found["count_letters"]["description"] == "Count the letters of a word."
    assert "store_knowledge" in found


def test_a_broken_file_is_named_and_the_others_are_offered(env: dict[str, str], folder: Path) -> None:
    (folder / "broken.py").write_text("import no_such_library")
    done = chiron_tools(**env)
    assert done.returncode == 0
    assert "count_letters" in done.stdout
    assert f"{folder / 'broken.py'} is left out: It cannot be imported: ModuleNotFoundError" in done.stderr


async def test_an_agent_is_offered_it_and_runs_it(settings: Settings, folder: Path) -> None:
    def script(request: dict[str, Any]) -> Says:
        if len(request["messages"]) > 1:
            return says(str(request["messages"][-1]["content"][0]["content"]))
        assert "count_letters" in [one["name"] for one in request["tools"]]
        return calls(call("count_letters", word="tides"))

    async with open_pool(settings.database_url, size=1) as pool:
        run = NewRun("tides", "research", "Physics", "claude-opus-5-5", 5)
        await submit(pool, NewBatch([run], "Physics"))
    async with scripted_model(script) as model:
        env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, "CHIRON_TOOLS": str(folder)}
        with running(settings, **env):
            done = "select answer from runs where state = 'completed'"
            await asyncio.to_thread(wait_until, lambda: rows(settings, done), 60, "the run")
    assert rows(settings, done)[0]["answer"] == '{"letters": 5, "is_run": true}'


async def test_a_tool_dropped_into_a_folder_is_offered_to_the_next_run_of_running_workers(
    settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "dropped"
    folder.mkdir()

    def script(request: dict[str, Any]) -> Says:
        if len(request["messages"]) > 1:
            return says(str(request["messages"][-1]["content"][0]["content"]))
        is_offered = "count_letters" in [definition["name"] for definition in request["tools"]]
        assert is_offered is ("moons" in str(request["messages"]))
        return calls(call("count_letters", word="tides"))

    async def answer(pool: Pool, topic: str) -> str:
        run = NewRun(topic, "research", "Physics", "claude-opus-5-5", 5)
        run_id = (await submit(pool, NewBatch([run], "Physics"))).run_ids[0]
        done = "select id, answer from runs where state = 'completed'"

        def answers() -> list[str]:
            return [str(row["answer"]) for row in rows(settings, done) if row["id"] == run_id]

        await asyncio.to_thread(wait_until, answers, 90, "the run")
        return answers()[0]

    async with open_pool(settings.database_url, size=1) as pool, scripted_model(script) as model:
        env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, "CHIRON_TOOLS": str(folder)}
        with running(settings, **env):
            assert "There is no tool 'count_letters'" in await answer(pool, "tides")
            (folder / "letters.py").write_text(TOOL)
            assert '"letters": 5' in await answer(pool, "moons")


async def test_own_tools_follow_their_files(tmp_path: Path) -> None:
    registry = Registry()
    tools = OwnTools(registry, [tmp_path, tmp_path / "missing"])
    tools.load()
    file = tmp_path / "letters.py"
    file.write_text(TOOL)
    await tools.refresh()
    assert [tool.name for tool in registry.all()] == ["count_letters"]
    file.write_text(TOOL.replace("Count the letters", "Count all of the letters"))
    await tools.refresh()
    assert registry.get("count_letters").description.startswith("Count all of the letters")
    file.write_text("half a fi")
    await tools.refresh()
    assert registry.get("count_letters").description.startswith("Count all of the letters")
    assert [Path(broken.source).name for broken in registry.broken] == ["letters.py", "missing"]
    file.write_text(TOOL.replace("count_letters", "count_all_letters"))
    await tools.refresh()
    assert [tool.name for tool in registry.all()] == ["count_all_letters"]
    file.unlink()
    await tools.refresh()
    assert registry.all() == []
    assert [Path(broken.source).name for broken in registry.broken] == ["missing"]
