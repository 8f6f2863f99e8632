"""A tool of one's own: one new file in a folder named in the settings, and no other edit."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.scripted_model import Says, call, calls, says, scripted_model
from support.worker_processes import rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

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
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)


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
