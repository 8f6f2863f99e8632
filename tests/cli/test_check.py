"""`chiron check` and `chiron import --check`: who is asked, about how much, and what is said where nobody is."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from support.report_writing import offline_model
from support.research_rows import Shelf
from support.run_harness import Stage
from typer.testing import Result

from chiron_workers.states import Outcome
from chiron_workers.tools import registry

Command = Callable[..., Result]
QUOTE = "Slugs walked over the coffee grounds as if they were not there."


@pytest.fixture
def fact(shelf: Shelf) -> UUID:
    shelf.subject("garden", "Garden")
    shelf.fact("garden", "Slugs hate mint.", "https://b.example/", quote="Slugs hate mint.")
    return shelf.fact(
        "garden",
        "Nothing keeps slugs away as coffee grounds do.",
        "https://a.example/",
        quote=QUOTE,
        text=QUOTE,
    )


async def test_without_a_model_the_rules_alone_judge_and_it_is_said(
    stage: Stage, chiron: Command, fact: UUID
) -> None:
    stage.registry = registry()
    ordered = await asyncio.to_thread(chiron, "check", "Garden", "--model", "offline")
    assert ordered.exit_code == 0, ordered.stderr
    assert "garden: 1 quote to be checked by rules, batch " in ordered.stdout
    assert (
        "No model is configured. Rules only doubt, so what they do not doubt stays unchecked."
        in ordered.stdout
    )
    assert "1 quote cannot be checked, since no text of the source here" in ordered.stdout
    [run] = await stage.rows("select id, scope from runs")
    async with offline_model(stage):
        assert await stage.play(run["id"]) is Outcome.PLAYED
    row = await stage.row(run["id"])
    assert "No model is configured that could be asked" in row["answer"]
    [stored] = await stage.rows("select * from facts where id = %s", fact)
    assert (stored["verdict"], stored["verdict_reason"]) == ("unchecked", "No model was asked.")
    assert stored["checked_run_id"] == run["id"]


async def test_the_same_facts_are_asked_about_once_unless_it_is_wanted(
    stage: Stage, chiron: Command, fact: UUID
) -> None:
    async def batch(*arguments: str) -> str:
        result = await asyncio.to_thread(chiron, "check", "garden", "--json", *arguments)
        assert result.exit_code == 0, result.stderr
        return str(json.loads(result.stdout)["batch_id"])

    first = await batch("--budget-usd", "1")
    assert await batch("--budget-usd", "1") == first
    assert await batch("--budget-usd", "1", "--again") != first


async def test_nobody_is_asked_where_a_setting_says_so(chiron: Command, fact: UUID, setting: Command) -> None:
    setting("VERDICT_MODEL", "none")
    refused = await asyncio.to_thread(chiron, "check", "garden")
    assert refused.exit_code == 2
    assert "CHIRON_VERDICT_MODEL is none" in refused.stderr


async def test_an_import_orders_the_check_of_what_it_brought(
    stage: Stage, chiron: Command, fact: UUID, tmp_path: Path
) -> None:
    file = tmp_path / "garden.jsonl"
    exported = await asyncio.to_thread(
        chiron, "export", "--subject", "garden", "--with-snapshots", "-o", str(file)
    )
    assert exported.exit_code == 0, exported.stderr
    imported = await asyncio.to_thread(chiron, "import", str(file), "--subject", "Beds", "--check")
    assert imported.exit_code == 0, imported.stderr
    assert "beds: 1 quote to be checked by " in imported.stdout
    [run] = await stage.rows("select role, subject_id from runs")
    assert run == {"role": "verifier", "subject_id": "beds"}
