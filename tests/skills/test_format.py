"""Reading SKILL.md: what the standard allows is taken, what is odd is taken with a warning, the rest is refused."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from chiron_workers.errors import SkillLoadError
from chiron_workers.skills.catalogue import SHIPPED
from chiron_workers.skills.format import parse_skill

GOOD = "---\nname: tides\ndescription: About tides.\n---\n\n# Tides\n\nLook at the moon.\n"


def test_a_proper_skill_is_read_without_a_warning() -> None:
    found = parse_skill(GOOD, folder_name="tides")
    assert (found.name, found.description, found.body) == (
        "tides",
        "About tides.",
        "# Tides\n\nLook at the moon.",
    )
    assert found.warnings == ()


def header(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "Do it."])


@pytest.mark.parametrize(
    ("text", "name", "description", "warning"),
    [
        (header("name: other", "description: x"), "other", "x", "not that of its folder, tides"),
        (header("name: Tides", "description: x"), "Tides", "x", "lower-case letters"),
        (header("name: a--b", "description: x"), "a--b", "x", "single hyphens"),
        (header("name: " + "t" * 70, "description: x"), "t" * 70, "x", "longer than 64"),
        (header("description: x"), "tides", "x", "no name"),
        (header("name: [a, b]", "description: x"), "tides", "x", "no name"),
        (
            header("name: tides", "description: Use when: the user asks"),
            "tides",
            "Use when: the user asks",
            "no strict YAML",
        ),
        (header("name: tides", "description: @home and `x`"), "tides", "@home and `x`", "no strict YAML"),
        (header("name: tides", "description:\ttabbed: text"), "tides", "tabbed: text", "no strict YAML"),
        (header("name: tides", "description: " + "x" * 2_000), "tides", "x" * 1_023 + "…", "cut at 1024"),
        (
            header("name: tides", "description: x", "compatibility: " + "y" * 600),
            "tides",
            "x",
            "compatibility",
        ),
        ("---\nname: tides\ndescription: x\n---\n", "tides", "x", "no instructions"),
        (
            header("name: tides", "description: x") + "y" * 25_000,
            "tides",
            "x",
            "longer than about 5,000 tokens",
        ),
    ],
)
def test_what_is_odd_is_read_with_a_warning(text: str, name: str, description: str, warning: str) -> None:
    found = parse_skill(text, folder_name="tides")
    assert (found.name, found.description) == (name, description)
    assert any(warning in each for each in found.warnings), found.warnings


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("\ufeff" + GOOD, "About tides."),
        ("\n\n" + GOOD, "About tides."),
        (GOOD.replace("\n", "\r\n"), "About tides."),
        (header("name: tides", "description: >", "  folded", "  text"), "folded text"),
        (header("name: tides", "description: |", "  two", "  lines"), "two lines"),
        (header("name: tides", 'description: "quoted: text"'), "quoted: text"),
        (header("name: tides", "description: yes"), "yes"),
        (header("name: tides", "description: 2026-01-31"), "2026-01-31"),
        (header("name: tides", "description: a --- b"), "a --- b"),
    ],
)
def test_ways_to_write_the_same_need_no_warning(text: str, description: str) -> None:
    found = parse_skill(text, folder_name="tides")
    assert (found.description, found.warnings) == (description, ())


@pytest.mark.timeout(60)  # a second or so, where a careless pattern would take minutes
@pytest.mark.parametrize(
    "line", ["a: " + "\t" * 7_000 + "b: c:", "a: b: " * 2_500, "? " * 7_000, "[ " * 100, "-" * 15_000]
)
def test_no_frontmatter_keeps_the_worker_for_long(line: str) -> None:
    with contextlib.suppress(SkillLoadError):
        parse_skill(header("name: tides", "description: x", line), folder_name="tides")


def test_fields_that_nobody_knows_are_kept() -> None:
    text = header("name: tides", "description: x", "license: MIT", "colour: blue", "metadata:", "  level: 3")
    found = parse_skill(text, folder_name="tides")
    assert (found.fields["colour"], found.fields["metadata"], found.warnings) == ("blue", {"level": "3"}, ())


def test_a_line_of_hyphens_in_the_body_ends_nothing() -> None:
    assert parse_skill(GOOD + "---\nmore", folder_name="tides").body.endswith("---\nmore")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin with frontmatter"),
        ("# Tides", "does not begin with frontmatter"),
        ("---\nname: tides\ndescription: x\n", "not closed"),
        (header("name: tides"), "no description"),
        (header("name: tides", "description:"), "no description"),
        (header("name: tides", "description: '  '"), "no description"),
        (header("- name", "- description"), "no fields"),
        (header("just words"), "no fields"),
        (header("name: tides", "description: 'never closed"), "is no YAML"),
        (header("a: &a [x]", "name: tides", "description: x", "b: [*a]"), "is no YAML"),
        (header("name: tides", "description: x", "deep: " + "[" * 101), "100 brackets"),
        (header("name: tides", "description: x", "long: " + "x" * 16_000), "16,000 characters"),
        (header("name: " + "t" * 300, "description: x"), "longer than 200"),
        (header('name: "ti\\u202edes"', "description: x"), "cannot be printed"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(SkillLoadError, match=why):
        parse_skill(text, folder_name="tides")


@pytest.mark.parametrize("folder", sorted(SHIPPED.iterdir()), ids=lambda folder: folder.name)
def test_what_we_ship_passes_the_validator_of_the_standard(folder: Path) -> None:
    command = [Path(sys.executable).with_name("agentskills"), "validate", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = parse_skill((folder / "SKILL.md").read_text(), folder_name=folder.name)
    assert found.warnings == ()
