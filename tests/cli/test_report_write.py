"""`chiron report --write`: a report is submitted once for the same facts, waited for, and shown."""

import asyncio
import json
from collections.abc import Callable
from uuid import UUID

import pytest
from support.report_writing import AGE, OPEN, Batch, offline_model, researched_batch
from support.research_rows import Shelf
from support.run_harness import Stage
from typer.testing import Result

from chiron_workers.tools import registry

Command = Callable[..., Result]


@pytest.fixture
def batch(shelf: Shelf) -> Batch:
    return researched_batch(shelf)


async def test_a_report_is_written_without_a_key_and_shown_where_it_is_asked_for(
    stage: Stage, chiron: Command, batch: Batch
) -> None:
    stage.registry = registry()
    ids = json.loads((await asyncio.to_thread(chiron, "report", str(batch.id), "--write", "--json")).stdout)
    async with offline_model(stage):
        await stage.play(UUID(ids["run_ids"][0]))
    for arguments in (("--write",), ()):
        shown = await asyncio.to_thread(chiron, "report", str(batch.id), *arguments)
        assert shown.exit_code == 0, shown.stderr
        assert "## Answer\n\n### Summary\n\n" in shown.stdout
        assert f"{OPEN} (finding " in shown.stdout
    # The newest batch is the writer's own, and its report is that on what it wrote about.
    latest = await asyncio.to_thread(chiron, "report", "last")
    assert f"{AGE} (finding " in latest.stdout
    assert [row["role"] for row in await stage.rows("select role from runs where scope is not null")] == [
        "writer"
    ]


async def test_the_same_facts_are_written_about_once_and_changed_ones_again(
    stage: Stage, chiron: Command, batch: Batch, shelf: Shelf
) -> None:
    async def submitted(*arguments: str) -> str:
        result = await asyncio.to_thread(chiron, "report", str(batch.id), "--write", "--json", *arguments)
        assert result.exit_code == 0, result.stderr
        return str(json.loads(result.stdout)["batch_id"])

    first = await submitted()
    assert await submitted() == first
    assert await submitted("--again") != first
    assert await submitted("--budget-usd", "3") != first
    assert await submitted("--budget-tokens", "9000") != first
    shelf.connection.execute("update facts set confidence = 0.7 where id = %s", (batch.age,))
    second = await submitted()
    assert second != first
    [run] = await stage.rows("select topic, scope, subject_id from runs where batch_id = %s", UUID(second))
    assert run == {
        "topic": "How thick is Arctic sea ice?", "scope": str(batch.id), "subject_id": "sea-ice",
    }  # fmt: skip


async def test_a_report_that_fails_is_said_to_have_failed(
    stage: Stage, chiron: Command, batch: Batch
) -> None:
    ids = json.loads((await asyncio.to_thread(chiron, "report", str(batch.id), "--write", "--json")).stdout)
    await stage.rows("update runs set state = 'failed' where id = %s returning 1", UUID(ids["run_ids"][0]))
    await stage.rows("update batches set open_runs = 0 where id = %s returning 1", UUID(ids["batch_id"]))
    shown = await asyncio.to_thread(chiron, "report", str(batch.id), "--write")
    assert shown.exit_code == 1
    assert f"batch {ids['batch_id']} is failed" in shown.stderr


def test_wrong_calls_are_one_sentence(chiron: Command, shelf: Shelf) -> None:
    empty = shelf.batch(shelf.subject("moon", "Moon"), "Nothing yet")
    for arguments, code, words in [
        ((str(empty), "--write"), 2, "There is no fact to write from"),
        ((str(empty), "--again"), 2, "go with --write"),
        ((str(empty), "--json"), 2, "go with --write"),
    ]:
        result = chiron("report", *arguments)
        assert (result.exit_code, result.stderr.count("\n")) == (code, 1)
        assert words in result.stderr
