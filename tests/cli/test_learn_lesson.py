"""`chiron learn lesson`: shown where there is one, written and waited for where there is none."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.lesson_writing import AGE, OPEN, Taught, taught_subject, written_lesson
from support.report_writing import offline_model
from support.research_rows import Shelf
from support.run_harness import Stage
from typer.testing import Result

from chiron_workers.tools import registry

Command = Callable[..., Result]


@pytest.fixture
def taught(shelf: Shelf) -> Taught:
    return taught_subject(shelf)


async def test_a_lesson_that_is_there_is_shown_and_written_to_a_file(
    stage: Stage, chiron: Command, taught: Taught, shelf: Shelf, tmp_path: Path
) -> None:
    lesson_id = written_lesson(shelf, taught)
    shown = await asyncio.to_thread(chiron, "learn", "lesson", "Sea ice", "thickness")
    assert shown.exit_code == 0, shown.stderr
    assert f"{OPEN} \\[2\\]" in shown.stdout
    as_json = await asyncio.to_thread(
        chiron, "learn", "lesson", "sea-ice", str(taught.thickness), "--format", "json"
    )
    assert json.loads(as_json.stdout)["id"] == str(lesson_id)
    file = tmp_path / "lesson.html"
    arguments = ("learn", "lesson", "sea-ice", "Thickness", "--format", "html", "--output", str(file))
    assert (await asyncio.to_thread(chiron, *arguments)).exit_code == 0
    assert f"<bdi>{AGE}</bdi>" in file.read_text()
    refused = await asyncio.to_thread(chiron, *arguments)
    assert refused.exit_code != 0
    assert "exists" in refused.stderr
    missing = await asyncio.to_thread(chiron, "learn", "lesson", "sea-ice", "Thicknes")
    assert "There are: Thickness" in missing.stderr


@pytest.mark.parametrize("arguments", [(), ("--again",)])
async def test_a_lesson_is_written_and_waited_for(
    stage: Stage, chiron: Command, taught: Taught, shelf: Shelf, arguments: tuple[str, ...]
) -> None:
    if arguments:
        written_lesson(shelf, taught)
    stage.registry = registry()
    command = asyncio.create_task(
        asyncio.to_thread(chiron, "learn", "lesson", "sea-ice", "Thickness", "--model", "offline", *arguments)
    )
    while not (runs := await stage.rows("select id from runs")) and not command.done():
        await asyncio.sleep(0.05)
    async with offline_model(stage):
        await stage.play(runs[0]["id"])
    shown = await command
    assert shown.exit_code == 0, shown.stderr
    assert "## Worked example" in shown.stdout
    assert "writes the lesson" in shown.stderr
    assert f"version {1 + len(arguments)}." in shown.stdout
