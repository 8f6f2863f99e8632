"""The files of a skill: text below its folder, and nothing else."""

import os
from pathlib import Path

import pytest
from support.skill_folders import skills_in, write_skill

from chiron_workers.errors import SkillError
from chiron_workers.skills import Skill
from chiron_workers.skills.resources import BYTES_MAX, read_resource, resources


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = write_skill(tmp_path / "skills", "tides", code="")
    (made / "references").mkdir()
    (made / "references" / "moon.md").write_text("The moon pulls.")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "skills" / "tides-too").mkdir()
    (tmp_path / "skills" / "tides-too" / "secret.txt").write_text("secret")
    return made


@pytest.fixture
def skill(folder: Path) -> Skill:
    return skills_in(folder).get("tides")


def test_files_are_listed_without_what_was_shown_already(folder: Path, skill: Skill) -> None:
    (folder / ".hidden").write_text("x")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "skill.pyc").write_text("x")
    (folder / "out.txt").symlink_to(folder.parent.parent / "secret.txt")
    found, has_more = resources(skill)
    assert [(each.path, each.bytes) for each in found] == [("references/moon.md", 15)]
    assert not has_more


def test_a_list_of_very_many_files_ends(folder: Path, skill: Skill) -> None:
    for n in range(150):
        (folder / f"{n:03}.txt").write_text("x")
    found, has_more = resources(skill)
    assert (len(found), has_more) == (100, True)


@pytest.mark.parametrize("path", ["references/moon.md", "./references/../references/moon.md"])
def test_a_file_is_read(skill: Skill, path: str) -> None:
    assert read_resource(skill, path) == "The moon pulls."


@pytest.mark.parametrize(
    "path",
    [
        "../../secret.txt",
        "../tides-too/secret.txt",
        "references/../../../secret.txt",
        "{tmp}/secret.txt",
        "/etc/passwd",
        "out.txt",
        "away/secret.txt",
        "round",
        ".",
        "",
        "references",
        "pipe",
        "none.md",
        "references/moon.md/x",
        "a\x00b",
        "x" * 5_000,
        "picture.png",
        "big.txt",
        "/dev/zero",
        "~/secret.txt",
        "file:///etc/passwd",
    ],
)
def test_no_other_file_is_read(folder: Path, skill: Skill, tmp_path: Path, path: str) -> None:
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "away").symlink_to(tmp_path)
    (folder / "round").symlink_to(folder / "round")
    (folder / "picture.png").write_bytes(b"\x89PNG\x00\xff")
    (folder / "big.txt").write_bytes(b"x" * (BYTES_MAX + 1))
    os.mkfifo(folder / "pipe")
    with pytest.raises(SkillError):
        read_resource(skill, path.replace("{tmp}", str(tmp_path)))


def test_a_file_that_is_not_there_is_answered_with_those_that_are(skill: Skill) -> None:
    with pytest.raises(SkillError, match=r"Its files: references/moon\.md"):
        read_resource(skill, "moon.md")
