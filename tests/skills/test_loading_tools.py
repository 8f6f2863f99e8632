"""What a run does with skills: it is told of them, loads one once, and keeps it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from support.run_harness import Stage, open_stage
from support.scripted_model import Fails, Says, call, calls, says, turn
from support.skill_folders import skills_in, write_skill
from support.small_window_model import TOKENS, counting, folds

from chiron_workers.batches.steering import retry
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.settings import Settings
from chiron_workers.skills import Skills
from chiron_workers.skills.skill_tools import register_skills
from chiron_workers.states import Outcome

CODE = '''
from chiron_workers.skills import BaseSkill
from chiron_workers.toolkit import tool

class Tides(BaseSkill):
    system_prompt = "Think of the moon."
    templates = {"letter": "Dear $who, the tide is $height."}

    async def activate(self, run_id):
        if self.skill.folder.joinpath("fail").exists():
            raise OSError("no sea")

@tool
def height(*, hour: int) -> int:
    """The height of the tide."""
    return hour * 2
'''


@pytest.fixture
async def stage(pool: Pool, settings: Settings, embedder: Embedder) -> AsyncIterator[Stage]:
    async with open_stage(pool, settings, embedder) as made:
        yield made


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chiron_workers.skills.process_skills.REREAD_S", 0)


def load(name: str) -> dict[str, Any]:
    return call("load_skill") | {"input": {"name": name}}


def letter(**values: str) -> dict[str, Any]:
    return call("tides__prompt") | {"input": {"name": "letter", "values": values}}


def use(stage: Stage, skills: Skills) -> None:
    stage.skills = skills
    register_skills(stage.registry, skills)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "skills"


@pytest.fixture
def skilled(stage: Stage, folder: Path) -> Stage:
    """A stage with the trusted skill `tides`, which needs nothing, and `moon`."""
    write_skill(folder, "tides", description="About tides.", body="TIDES INSTRUCTIONS", code=CODE)
    write_skill(folder, "moon", description="About the moon.", body="MOON INSTRUCTIONS")
    (folder / "tides" / "data.txt").write_text("high at noon")
    use(stage, skills_in(folder, trusted=True))
    return stage


async def played(stage: Stage, *replies: Says) -> list[str]:
    """What each reply's calls got, in order."""
    await stage.model(lambda request: replies[min(turn(request), len(replies) - 1)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    return await results(stage)


async def results(stage: Stage) -> list[str]:
    return [
        row["body"] for row in await stage.rows("select body from tool_results order by run_id, n, call_id")
    ]


def names_offered(request: dict[str, Any]) -> list[str]:
    schema = next(tool for tool in request["tools"] if tool["name"] == "load_skill")["input_schema"]
    return list(schema["properties"]["name"]["enum"])


async def test_an_agent_is_told_of_the_skills_and_of_no_instructions(skilled: Stage) -> None:
    await played(skilled, says("done"))
    (request,) = skilled.server.requests
    system = json.dumps(request["system"])
    assert "- tides: About tides." in system
    assert "- moon: About the moon." in system
    assert names_offered(request) == ["moon", "tides"]
    assert "INSTRUCTIONS" not in json.dumps(request)
    assert "Think of the moon" not in system


async def test_a_new_folder_is_offered_to_the_next_run(skilled: Stage, folder: Path) -> None:
    await played(skilled, says("done"))
    write_skill(folder, "stars", description="About stars.")
    await played(skilled, says("done"))
    (request,) = skilled.server.requests
    assert names_offered(request) == ["moon", "stars", "tides"]
    assert "- stars: About stars." in json.dumps(request["system"])


async def test_without_skills_there_is_nothing_to_load(stage: Stage, folder: Path) -> None:
    use(stage, skills_in(folder))
    await played(stage, says("done"))
    (request,) = stage.server.requests
    assert "skill" not in json.dumps([request["system"], [tool["name"] for tool in request["tools"]]])


async def test_a_skill_is_loaded_once_and_tells_of_its_files_and_tools(skilled: Stage) -> None:
    found = await played(
        skilled,
        calls(load("tides")),
        calls(load("tides"), load("nothing")),
        says("done"),
    )
    assert "TIDES INSTRUCTIONS" in found[0]
    assert "- data.txt (12 bytes)" in found[0]
    assert "tides__height, tides__prompt" in found[0]
    assert sorted(found[1:]) == [
        "The skill tides is loaded already: follow the instructions that you were given. "
        'read_skill_file with skill "tides" and path "SKILL.md" shows them again.',
        "There is no skill 'nothing'. Skills: moon, tides.",
    ]


async def test_two_loads_in_one_reply_load_it_once(skilled: Stage) -> None:
    found = await played(skilled, calls(load("tides"), load("tides")), says("done"))
    assert sorted("INSTRUCTIONS" in each for each in found) == [False, True]
    assert len(await skilled.rows("select name from run_skills")) == 1


async def test_its_tools_work_once_it_is_loaded(skilled: Stage) -> None:
    use_tool = calls(call("tides__height", hour="3"))
    found = await played(
        skilled,
        use_tool,
        calls(load("tides")),
        use_tool,
        calls(letter(who="Ann", height="3 m")),
        calls(letter(who="Ann")),
        says("done"),
    )
    assert found[0] == "Load the skill tides first: call load_skill with its name."
    assert found[2] == "6"
    assert found[3] == "Dear Ann, the tide is 3 m."
    assert found[4] == "values: height is missing"
    assert {"tides__height", "tides__prompt"} <= {
        tool["name"] for tool in skilled.server.requests[0]["tools"]
    }


async def test_its_tools_go_on_working_without_its_folder_and_on_another_worker(
    skilled: Stage, folder: Path
) -> None:
    ended = False

    def script(request: dict[str, Any]) -> Says | Fails:
        if turn(request) == 0:
            return calls(load("tides"))
        if not ended:
            return Fails(status=529, type="overloaded_error")
        return calls(call("tides__height", hour=3)) if turn(request) == 1 else says("done")

    skilled.settings = skilled.settings.model_copy(update={"model_tries": 1})
    await skilled.model(script)
    (run_id,) = await skilled.submit("tides")
    assert await skilled.play(run_id) is Outcome.LEFT
    ended = True
    (folder / "tides" / "SKILL.md").unlink()
    await skilled.end_waiting()
    assert await skilled.play(run_id) is Outcome.PLAYED
    assert (await results(skilled))[-1] == "6"


async def test_its_files_are_read_once_it_is_loaded(skilled: Stage) -> None:
    def read(path: str, **more: int) -> Says:
        return calls(call("read_skill_file", skill="tides", path=path, **more))

    found = await played(
        skilled,
        read("data.txt"),
        calls(load("tides")),
        read("data.txt"),
        read("data.txt", offset=5),
        read("../moon/SKILL.md"),
        read("SKILL.md"),
        says("done"),
    )
    assert found[0].startswith("Load the skill tides first")
    assert found[2:4] == ["high at noon", "at noon"]
    assert "not below the folder" in found[4]
    assert "TIDES INSTRUCTIONS" in found[5]


async def test_a_long_file_is_read_in_pieces(skilled: Stage, folder: Path) -> None:
    whole = "".join(f"{n:06} " for n in range(20_000))
    (folder / "tides" / "long.txt").write_text(whole)
    shown: list[str] = []

    def script(request: dict[str, Any]) -> Says:
        if turn(request) == 0:
            return calls(load("tides"))
        if turn(request) > 1:
            text, _, note = str(request["messages"][-1]["content"][0]["content"]).partition("\n[Cut here")
            shown.append(text)
            if not note:
                return says("done")
        offset = sum(map(len, shown))
        return calls(call("read_skill_file", skill="tides", path="long.txt", offset=offset))

    await skilled.model(script)
    (run_id,) = await skilled.submit("tides")
    assert await skilled.play(run_id) is Outcome.PLAYED
    assert "".join(shown) == whole
    assert len(shown) > 1


async def test_a_skill_whose_code_fails_is_not_loaded_and_the_run_goes_on(
    skilled: Stage, folder: Path
) -> None:
    (folder / "tides" / "fail").touch()
    found = await played(skilled, calls(load("tides")), says("done"))
    assert found == ["The skill tides cannot be loaded: its activate failed: OSError: no sea"]
    assert await skilled.rows("select name from run_skills") == []


async def test_what_a_skill_needs_is_loaded_before_it(stage: Stage, folder: Path) -> None:
    code = "from chiron_workers.skills import BaseSkill\nclass A(BaseSkill):\n    requires = ('b',)"
    write_skill(folder, "a", body="BODY OF A", code=code)
    write_skill(folder, "b", body="BODY OF B")
    use(stage, skills_in(folder, trusted=True))
    (found,) = await played(stage, calls(load("a")), says("done"))
    assert found.index("BODY OF B") < found.index("BODY OF A")
    assert [row["name"] for row in await stage.rows("select name from run_skills order by n")] == ["b", "a"]


@pytest.fixture
def small(skilled: Stage) -> Stage:
    skilled.settings = skilled.settings.model_copy(update={"context_tokens": {skilled.model_name: TOKENS}})
    return skilled


def long_work(request: dict[str, Any]) -> Says:
    """Loads the skill, works until the window has begun anew, uses the skill's tool, and answers."""
    if folds(request):
        return says("SUMMARY")
    first = str(request["messages"][0]["content"][0]["text"])
    if "SUMMARY" in first:
        return calls(call("tides__height", hour=4)) if turn(request) == 0 else says("All done.")
    if turn(request) == 0:
        return calls(load("tides"))
    return calls(call("echo", words=f"{turn(request)} " + "x" * 3_000))


async def test_a_skill_is_kept_when_the_window_begins_anew_as_it_was_when_it_was_loaded(
    small: Stage, folder: Path
) -> None:
    def script(request: dict[str, Any]) -> Says:
        if turn(request) == 1:
            (folder / "tides" / "SKILL.md").write_text("---\nname: tides\ndescription: x\n---\nCHANGED")
        return long_work(request)

    await small.model(counting(script))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    last = small.server.requests[-1]
    first_words = str(last["messages"][0]["content"][0]["text"])
    assert "TIDES INSTRUCTIONS" in first_words
    assert "CHANGED" not in first_words
    assert "Think of the moon." in json.dumps(last["system"])
    assert "Think of the moon." not in json.dumps(small.server.requests[0]["system"])
    assert (await results(small))[-1] == "8"


async def test_a_long_skill_leaves_room_in_a_new_window_and_can_be_read_again(
    small: Stage, folder: Path
) -> None:
    body = "BEGINNING " + "x" * 12_000 + " END"
    (folder / "tides" / "SKILL.md").write_text(f"---\nname: tides\ndescription: x\n---\n{body}")

    def script(request: dict[str, Any]) -> Says:
        said = long_work(request)
        if any(block.get("name") == "tides__height" for block in said.blocks):
            return calls(call("read_skill_file", skill="tides", path="SKILL.md", offset=11_000))
        return said

    await small.model(counting(script))
    (run_id,) = await small.submit("tides")
    assert await small.play(run_id) is Outcome.PLAYED
    first_words = str(small.server.requests[-1]["messages"][0]["content"][0]["text"])
    assert "BEGINNING" in first_words
    assert 'path "SKILL.md" shows all of it' in first_words
    assert len(first_words) < 10_000
    assert "END" in (await results(small))[-1]


async def test_a_run_from_scratch_has_loaded_nothing(skilled: Stage) -> None:
    await played(skilled, calls(load("tides")), says("done"))
    ((run,)) = await skilled.rows("select id from runs")
    await retry(skilled.pool, run["id"], from_scratch=True)
    assert await skilled.rows("select name from run_skills") == []
    await skilled.model(
        lambda request: calls(call("tides__height", hour=1)) if turn(request) == 0 else says("x")
    )
    assert await skilled.play(run["id"]) is Outcome.PLAYED
    assert (await results(skilled))[-1].startswith("Load the skill tides first")
