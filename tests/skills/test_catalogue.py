"""Where skills are looked for, and which of a name is offered."""

import os
from pathlib import Path

import pytest
from support.skill_folders import skills_in, write_skill

from chiron_workers.errors import SkillNotFoundError
from chiron_workers.settings import Settings
from chiron_workers.skills.catalogue import Catalogue, SkillRoot, skill_roots
from chiron_workers.skills.instructions import CATALOGUE_CHARS, catalogue_lines
from chiron_workers.skills.skill import Source
from chiron_workers.skills.skill_folder import BYTES_MAX


@pytest.fixture
def found(tmp_path: Path) -> Settings:
    return Settings(
        _env_file=None, home=tmp_path / "home", project=tmp_path / "here", skills=[tmp_path / "own"]
    )  # type: ignore[call-arg]


FOLDERS = ["here/.chiron/skills", "here/.agents/skills", "own", "home/skills"]


@pytest.mark.parametrize("place", range(len(FOLDERS)))
def test_the_first_of_a_name_wins_and_the_others_are_known(
    found: Settings, tmp_path: Path, place: int
) -> None:
    for folder in FOLDERS[place:]:
        write_skill(tmp_path / folder, "statistics-check", description=f"From {folder}.")
    catalogue = Catalogue.read(skill_roots(found))
    skill = catalogue.skills["statistics-check"]
    assert skill.folder == tmp_path / FOLDERS[place] / "statistics-check"
    later = [tmp_path / folder / "statistics-check" for folder in FOLDERS[place + 1 :]]
    assert [each.folder for each in catalogue.shadowed_skills][:-1] == later
    assert catalogue.shadowed_skills[-1].source is Source.SHIPPED


def test_only_shipped_skills_and_those_below_a_trusted_folder_are_trusted(tmp_path: Path) -> None:
    write_skill(tmp_path / "a", "one", code="")
    write_skill(tmp_path / "b", "two", code="")
    catalogue = Catalogue.read([SkillRoot(tmp_path, Source.PROJECT)], trusted_folders=[tmp_path / "b"])
    assert {name: skill.is_trusted for name, skill in catalogue.skills.items()} == {"one": False, "two": True}
    assert "CHIRON_TRUSTED_SKILLS" in catalogue.skills["one"].warnings[0]
    assert catalogue.skills["two"].warnings == ()


def test_a_link_out_of_a_trusted_folder_is_not_trusted(tmp_path: Path) -> None:
    strange = write_skill(tmp_path / "strange", "linked", code="")
    trusted = tmp_path / "trusted"
    folder = write_skill(trusted, "half")
    (folder / "skill.py").symlink_to(strange / "skill.py")
    (trusted / "linked").symlink_to(strange)
    catalogue = Catalogue.read([SkillRoot(trusted, Source.USER)], trusted_folders=[trusted])
    assert {name: skill.is_trusted for name, skill in catalogue.skills.items()} == {
        "half": False,
        "linked": False,
    }


def test_what_cannot_be_used_is_left_out_with_the_reason(tmp_path: Path) -> None:
    for name, data in (("binary", b"---\n\x00"), ("huge", b"x" * (BYTES_MAX + 1)), ("empty", b"")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_bytes(data)
    write_skill(tmp_path, "good")
    (tmp_path / "latin").mkdir()
    (tmp_path / "latin" / "SKILL.md").write_bytes(
        "---\nname: latin\ndescription: Köln\n---\nx".encode("latin-1")
    )
    catalogue = Catalogue.read([SkillRoot(tmp_path, Source.USER)])
    assert list(catalogue.skills) == ["good", "latin"]
    assert catalogue.skills["latin"].warnings == ("Its SKILL.md is not UTF-8.",)
    why = {each.folder.name: each.reason for each in catalogue.rejections}
    assert set(why) == {"binary", "huge", "empty"}
    assert "no text" in why["binary"]
    assert "more than" in why["huge"]


def test_skills_lie_at_any_depth_up_to_four_and_not_within_each_other(tmp_path: Path) -> None:
    write_skill(tmp_path / "a" / "b", "deep")
    write_skill(tmp_path / "deep-enough" / "x" / "y" / "z" / "w", "too-deep")
    write_skill(tmp_path / "a" / "b" / "deep", "inner")
    for hidden in (".git", "node_modules", "_draft"):
        write_skill(tmp_path / hidden, "hidden")
    (tmp_path / "lower").mkdir()
    (tmp_path / "lower" / "skill.md").write_text("---\nname: lower\ndescription: x\n---\nx")
    assert list(skills_in(tmp_path).catalogue().skills) == ["deep", "lower"]


def test_a_folder_of_the_settings_may_be_a_skill_itself(tmp_path: Path) -> None:
    folder = write_skill(tmp_path, "alone")
    assert list(skills_in(folder).catalogue().skills) == ["alone"]


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    write_skill(tmp_path, "good")
    (tmp_path / "round").symlink_to(tmp_path)
    assert list(skills_in(tmp_path).catalogue().skills) == ["good"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)
    assert "Permission denied" in skills_in(locked).catalogue().rejections[0].reason


def test_an_unknown_skill_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    write_skill(tmp_path, "good")
    with pytest.raises(SkillNotFoundError, match="Skills: good"):
        skills_in(tmp_path).get("gone")


def test_the_lines_in_the_system_prompt_are_bounded(tmp_path: Path) -> None:
    for n in range(120):
        write_skill(tmp_path, f"skill-{n:03}", description="word " * 200)
    catalogue = skills_in(tmp_path).catalogue()
    assert len(catalogue.skills) == 100
    assert len(catalogue.rejections) == 20
    lines = catalogue_lines(catalogue)
    assert len(lines) < CATALOGUE_CHARS + 1_000
    assert lines.count("\n- skill-") == 100


def test_without_skills_nothing_is_said_of_them() -> None:
    assert catalogue_lines(Catalogue()) == ""
