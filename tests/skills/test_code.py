"""The code of skills: run only where it is trusted, checked for what it needs, and never the end of a worker."""

import re
from pathlib import Path

import pytest
from support.skill_folders import skills_in, write_skill

from chiron_workers.errors import SkillLoadError
from chiron_workers.ids import new_id
from chiron_workers.skills import Skills
from chiron_workers.skills.catalogue import SHIPPED, SkillRoot
from chiron_workers.skills.skill import Source
from chiron_workers.skills.skill_tools import register_skills
from chiron_workers.toolkit import Registry

TRACED = """
from chiron_workers.skills import BaseSkill
from chiron_workers.toolkit import tool
import chiron_workers.skills as shared

class Traced(BaseSkill):
    requires = ({requires})
    packages = ({packages})

    def tell(self, hook):
        vars(shared).setdefault("told", []).append((self.skill.name, hook))
    def load(self): self.tell("load")
    async def initialize(self): self.tell("initialize")
    async def activate(self, run_id): self.tell("activate")
    async def deactivate(self, run_id): self.tell("deactivate")
    async def unload(self): self.tell("unload")
"""
TOOL = '''
from chiron_workers.toolkit import tool

@tool
def double(*, number: int) -> int:
    """Double a number."""
    return 2 * number
'''


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    monkeypatch.setattr("chiron_workers.skills.told", found, raising=False)
    return found


def traced(*, requires: str = "", packages: str = "") -> str:
    return TRACED.format(requires=requires, packages=packages)


def left_out(root: Path) -> dict[str, str]:
    found = skills_in(root, trusted=True)
    register_skills(Registry(), found)
    return {each.folder.name: each.reason for each in found.catalogue().rejections}


async def test_a_skill_goes_through_its_life_in_order_after_what_it_needs(
    tmp_path: Path, told: list[tuple[str, str]]
) -> None:
    write_skill(tmp_path, "a", code=traced(requires="'b',"))
    write_skill(tmp_path, "b", code=traced())
    found = skills_in(tmp_path, trusted=True)
    assert told == [("b", "load"), ("a", "load")]
    told.clear()
    first, second = new_id(), new_id()
    names = [skill.name for skill in found.get_with_requirements("a")]
    for run_id in (first, second, first):
        await found.activate(run_id, names)
    assert told == [
        ("b", "initialize"), ("b", "activate"), ("a", "initialize"), ("a", "activate"),
        ("b", "activate"), ("a", "activate"),
    ]  # fmt: skip
    told.clear()
    await found.deactivate(first)
    await found.deactivate(first)
    assert told == [("a", "deactivate"), ("b", "deactivate")]
    told.clear()
    await found.close()
    assert told == [("a", "deactivate"), ("b", "deactivate"), ("a", "unload"), ("b", "unload")]


def test_code_is_not_run_where_it_is_not_trusted(tmp_path: Path, told: list[tuple[str, str]]) -> None:
    write_skill(tmp_path, "a", code=traced() + "\nraise SystemExit('must not run')")
    found = skills_in(tmp_path)
    assert (told, found.codes, list(found.catalogue().skills)) == ([], {}, ["a"])


def test_skills_that_need_each_other_are_named(tmp_path: Path) -> None:
    write_skill(tmp_path, "a", code=traced(requires="'b',"))
    write_skill(tmp_path, "b", code=traced(requires="'c',"))
    write_skill(tmp_path, "c", code=traced(requires="'a',"))
    write_skill(tmp_path, "d", code=traced(requires="'c',"))
    write_skill(tmp_path, "itself", code=traced(requires="'itself',"))
    why = left_out(tmp_path)
    assert {why["a"], why["b"], why["c"]} == {"It needs itself: a needs b needs c needs a."}
    assert why["d"] == "It needs the skill c, which cannot be used."
    assert why["itself"] == "It needs itself: itself needs itself."


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise RuntimeError('broken')", "It cannot be imported: RuntimeError: broken"),
        ("import no_such_library", "No module named 'no_such_library'"),
        ("raise SystemExit(3)", "SystemExit"),
        ("def broken(:", "SyntaxError"),
        ("", "neither a BaseSkill nor a tool"),
        (traced(requires="'gone',"), "It needs the skill gone, which is not there."),
        (traced(packages="'no-such-package',"), "pip install 'no-such-package'"),
        (traced(packages="'pydantic>=99',"), "It needs the package pydantic>=99, and 2."),
        (traced(packages="'?!',"), "no name of a package"),
        (traced() + "\n    def load(self): raise ValueError('no data')", "ValueError: no data"),
        (traced() + "\n    def __init__(self, skill): raise SystemExit('no licence')", "SystemExit: no licence"),
        (traced() + "\n    def load(self): raise SystemExit(3)", "SystemExit: 3"),
        (traced() + "\n    def tools(self): raise SystemExit(4)", "SystemExit: 4"),
        (traced() + "\n    def tools(self): return [len]", "len is not a tool"),
        (traced() + "\n    def tools(self): return 1 / 0", "ZeroDivisionError"),
        (traced() + "\nclass Second(BaseSkill): pass", "It has 2 skills: Traced, Second"),
        ("from chiron_workers.skills import BaseSkill\nclass S(BaseSkill):\n    templates = {'x': 3}", "TypeError"),
    ],
)  # fmt: skip
def test_a_broken_skill_is_left_out_with_the_reason_and_the_others_are_offered(
    tmp_path: Path, code: str, why: str, told: list[tuple[str, str]]
) -> None:
    write_skill(tmp_path, "broken", code=code)
    write_skill(tmp_path, "good", code=TOOL)
    registry, found = Registry(), skills_in(tmp_path, trusted=True)
    register_skills(registry, found)
    assert list(found.catalogue().skills) == ["good"]
    [told_of] = found.catalogue().rejections
    assert why in told_of.reason
    assert "good__double" in [tool.name for tool in registry.all()]


def test_tools_whose_names_nobody_can_call_leave_their_skill_out(tmp_path: Path) -> None:
    write_skill(tmp_path, "s" * 60, code=TOOL)
    assert "1 to 64" in left_out(tmp_path)["s" * 60]


def test_packages_that_are_installed_are_enough(tmp_path: Path) -> None:
    write_skill(tmp_path, "a", code=traced(packages="'pydantic>=2', 'pyyaml'"))
    assert left_out(tmp_path) == {}


async def test_a_skill_that_hangs_or_breaks_when_it_is_let_go_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chiron_workers.skills.lifecycle.RELEASE_S", 0.05)
    hanging = (
        "\n    async def deactivate(self, run_id):\n        import asyncio\n        await asyncio.sleep(60)"
    )
    broken = "\n    async def unload(self): raise RuntimeError('gone')"
    write_skill(tmp_path, "a", code=traced() + hanging + broken)
    found = skills_in(tmp_path, trusted=True)
    await found.activate(run_id := new_id(), ["a"])
    await found.deactivate(run_id)
    await found.close()


@pytest.mark.parametrize("begins", ["async def", "def"])
@pytest.mark.parametrize("hook", ["initialize(self)", "activate(self, run_id)"])
async def test_a_hook_that_exits_is_a_skill_that_cannot_be_loaded_and_not_the_end_of_the_worker(
    tmp_path: Path, hook: str, begins: str
) -> None:
    write_skill(tmp_path, "a", code=f"{traced()}\n    {begins} {hook}: raise SystemExit(3)")
    found = skills_in(tmp_path, trusted=True)
    with pytest.raises(SkillLoadError, match=f"its {hook.partition('(')[0]} failed: SystemExit: 3"):
        await found.activate(new_id(), ["a"])


@pytest.mark.parametrize("begins", ["async def", "def"])
@pytest.mark.parametrize("hook", ["deactivate(self, run_id)", "unload(self)"])
async def test_a_skill_that_exits_when_it_is_let_go_keeps_none_of_the_others(
    tmp_path: Path, hook: str, begins: str, told: list[tuple[str, str]]
) -> None:
    write_skill(tmp_path, "a", code=traced())
    write_skill(tmp_path, "z", code=f"{traced()}\n    {begins} {hook}: raise SystemExit(3)")
    found = skills_in(tmp_path, trusted=True)
    await found.activate(run_id := new_id(), ["a", "z"])
    await found.deactivate(run_id)
    await found.close()
    assert {("a", "deactivate"), ("a", "unload")} <= set(told)


def test_code_that_comes_later_runs_once_the_worker_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chiron_workers.skills.process_skills.REREAD_S", 0)
    found = skills_in(tmp_path, trusted=True)
    write_skill(tmp_path, "late", code=TOOL)
    assert "started again" in found.catalogue().skills["late"].warnings[0]
    assert found.codes == {}


async def test_the_example_of_the_documentation_works(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "skills.md").read_text()
    text, code = (re.search(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("markdown", "python"))
    assert text is not None
    assert code is not None
    folder = write_skill(tmp_path, "tidal-data", code=code[1])
    (folder / "SKILL.md").write_text(text[1])
    found = Skills(
        [SkillRoot(tmp_path, Source.USER), SkillRoot(SHIPPED, Source.SHIPPED)], trusted_folders=[tmp_path]
    )
    registry = Registry()
    register_skills(registry, found)
    assert found.catalogue().rejections == ()
    assert found.get("tidal-data").warnings == ()
    assert [skill.name for skill in found.get_with_requirements("tidal-data")] == [
        "statistics-check",
        "tidal-data",
    ]
    assert {"tidal-data__chart_datum", "tidal-data__prompt"} <= {tool.name for tool in registry.all()}
