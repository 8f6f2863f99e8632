"""What people are told of skills, and a skill of one's own: one new folder and no other edit."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.json_lines import json_lines
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.skill_folders import write_skill
from support.worker_processes import chiron, rows, running, wait_until

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings, read_settings
from chiron_workers.settings.variables import process_environment


def listed(done: "subprocess.CompletedProcess[str]") -> dict[str, dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return {f"{row['name']} {row['state']}": row for row in json_lines(done.stdout)}


def test_skills_are_listed_with_their_folder_and_what_is_wrong(settings: Settings) -> None:
    write_skill(settings.home / "skills", "tides", code="raise RuntimeError('must not run')")
    write_skill(settings.home / "skills", "statistics-check")
    (settings.home / "skills" / "broken").mkdir()
    (settings.home / "skills" / "broken" / "SKILL.md").write_text("nothing")
    found = listed(chiron(settings, "skills", "--json"))
    assert set(found) == {
        "broken left out", "statistics-check offered", "statistics-check shadowed", "systematic-review offered",
        "tides offered",
    }  # fmt: skip
    tides = found["tides offered"]
    assert (tides["source"], tides["trusted"], tides["tools"]) == ("user", False, [])
    assert tides["folder"] == str(settings.home / "skills" / "tides")
    assert "CHIRON_TRUSTED_SKILLS" in tides["warnings"][0]
    assert found["systematic-review offered"]["source"] == "shipped"
    shown = chiron(settings, "skills").stdout
    assert "broken             is left out: It does not begin with frontmatter" in shown
    assert "(shadowed by one of the same name)" in shown
    checks = json.loads(chiron(settings, "doctor", "--json").stdout)["checks"]
    problems = [check for check in checks if check["name"] == "skills"]
    assert [check["ok"] for check in problems] == [False]
    assert "is left out: It does not begin with frontmatter" in problems[0]["found"]


@pytest.mark.acceptance
def test_doctor_tells_which_skill_is_taken_of_two(settings: Settings) -> None:
    folder = write_skill(settings.home / "mine", "statistics-check")
    done = chiron(settings, "doctor", "--json", CHIRON_SKILLS=str(settings.home / "mine"))
    (check,) = [each for each in json.loads(done.stdout)["checks"] if each["name"] == "skills"]
    assert check["ok"]
    assert f"{folder} is taken for statistics-check, and not " in check["found"]


def test_code_that_is_trusted_brings_its_tools(settings: Settings) -> None:
    code = (
        'from chiron_workers.toolkit import tool\n\n@tool\ndef ebb() -> int:\n    """Ebb."""\n    return 1\n'
    )
    write_skill(settings.home / "skills", "tides", code=code)
    trusting = {"CHIRON_TRUSTED_SKILLS": str(settings.home / "skills")}
    assert listed(chiron(settings, "skills", "--json", **trusting))["tides offered"]["tools"] == [
        "tides__ebb"
    ]
    tools = json.loads(chiron(settings, "tools", "--json", **trusting).stdout)
    assert "tides__ebb" in [tool["name"] for tool in tools]


def test_the_parts_of_a_stack_see_the_project_and_the_folders_of_whoever_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHIRON_SKILLS", "mine,/yours")
    monkeypatch.setenv("CHIRON_TOOLS", "a_module,/a/folder")
    monkeypatch.setenv("CHIRON_FILES", "papers:/data")
    for name, value in process_environment(read_settings(_env_file=None)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir("/")
    found = read_settings(_env_file=None)
    assert found.project == tmp_path
    assert found.skills == [tmp_path / "mine", Path("/yours")]
    assert found.files == (tmp_path / "papers", Path("/data"))
    assert found.tools == ["a_module", "/a/folder"]


@pytest.mark.acceptance
async def test_a_new_folder_is_seen_by_a_worker_that_runs_and_by_the_command(settings: Settings) -> None:
    def script(request: dict[str, Any]) -> Says:
        if turn(request) == 0:
            return calls(call("load_skill") | {"input": {"name": "tides"}})
        return says(str(request["messages"][-1]["content"][0]["content"]))

    async with open_pool(settings.database_url, size=1) as pool, scripted_model(script) as model:
        with running(settings, ANTHROPIC_API_KEY="test", ANTHROPIC_BASE_URL=model.url) as worker:
            await asyncio.to_thread(wait_until, lambda: b"ready" in worker.log.read_bytes(), 60, "the worker")
            folder = write_skill(settings.home / "skills", "tides", body="LOOK AT THE MOON")
            done = "select answer from runs where state = 'completed' order by finished_at desc"
            answers: list[dict[str, Any]] = []
            system = ""
            # Ends: after REREAD_S it looks again, maybe between the prompt of a run and its call.
            while not (
                answers and "LOOK AT THE MOON" in answers[0]["answer"] and "- tides: For tests." in system
            ):
                assert len(answers) < 100
                run = NewRun("tides", "research", "Physics", "claude-opus-5-5", 5)
                await submit(pool, NewBatch([run], "Physics"))
                is_done = lambda: len(rows(settings, done)) > len(answers)  # noqa: B023, E731
                await asyncio.to_thread(wait_until, is_done, 60, "the run")
                answers = rows(settings, done)
                system = json.dumps(model.requests[-1]["system"])
    assert listed(chiron(settings, "skills", "--json"))["tides offered"]["folder"] == str(folder)


@pytest.mark.acceptance
async def test_a_run_that_is_taken_anew_while_its_skills_are_left_stays_with_its_worker(
    settings: Settings,
) -> None:
    code = (
        "import asyncio\nfrom chiron_workers.skills import BaseSkill\n\n"
        "class Slow(BaseSkill):\n    async def deactivate(self, run_id):\n        await asyncio.sleep(4)\n"
    )
    write_skill(settings.home / "skills", "tides", code=code)

    async def script(request: dict[str, Any]) -> Says:
        if turn(request) == 0:
            return calls(call("load_skill") | {"input": {"name": "tides"}})
        if turn(request) == 2:
            await asyncio.sleep(9)  # longer than the leaving of the skill and a lease
        return says(f"reply {turn(request)}")

    async with open_pool(settings.database_url, size=1) as pool, scripted_model(script) as model:
        quick = {"CHIRON_LEASE_S": "3", "CHIRON_RENEWAL_S": "1", "CHIRON_RESCUE_S": "0.5"}
        trusting = {"CHIRON_TRUSTED_SKILLS": str(settings.home / "skills")}
        key = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url}
        with running(settings, **quick, **trusting, **key):
            run = NewRun("tides", "research", "Physics", "claude-opus-5-5", 9)
            [run_id] = (await submit(pool, NewBatch([run], "Physics"))).run_ids
            done = "select answer from runs where state = 'completed'"
            await asyncio.to_thread(wait_until, lambda: rows(settings, done), 60, "the run")
            assert chiron(settings, "say", str(run_id), "Go on.").returncode == 0
            again = done + " and answer = 'reply 2'"
            await asyncio.to_thread(wait_until, lambda: rows(settings, again), 60, "the answer")
    assert rows(settings, "select lease from runs") == [{"lease": 2}]
