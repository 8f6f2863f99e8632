import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from support.research_rows import Shelf
from typer.testing import Result

from chiron_workers.ids import first_id

Chiron = Callable[..., Result]


@pytest.fixture
def stored_runs(shelf: Shelf) -> None:
    """A run of last week that found nothing, and two of today."""
    batch = shelf.batch(shelf.subject("moss"), "Moss")
    last_week = UUID(int=first_id(datetime.now(UTC) - timedelta(days=6)).int + 1)
    shelf.run("moss", batch, "Bark", id=last_week, number=1, facts=0)
    shelf.run("moss", batch, "Stone", number=2, model="offline")
    shelf.run(shelf.subject("ferns"), batch, "Ferns on stone", number=3, state="failed")


@pytest.mark.usefixtures("stored_runs")
def test_runs_lists_the_newest_of_all_batches_first(chiron: Chiron) -> None:
    def topics(*arguments: str) -> list[str]:
        return [
            json.loads(line)["topic"] for line in chiron("runs", "--json", *arguments).stdout.splitlines()
        ]

    assert topics() == ["Ferns on stone", "Stone", "Bark"]
    assert topics("--limit", "1") == ["Ferns on stone"]
    assert topics("--subject", "Moss", "--since", "2d") == ["Stone"]
    assert topics("--topic", "STONE", "--state", "completed") == ["Stone"]
    assert topics("--nothing-found") == ["Bark"]
    assert topics("--model", "offline", "--owner", "local") == ["Stone"]
    assert topics("--owner", "alice") == []
    assert topics("--batch", "Moss", "--state", "failed") == ["Ferns on stone"]
    assert "There is no batch" in chiron("runs", "--batch", str(UUID(int=1))).stderr


@pytest.mark.usefixtures("stored_runs")
def test_runs_shows_people_when_what_and_how_it_ended(chiron: Chiron) -> None:
    first, second = chiron("runs", "--topic", "bark").stdout.splitlines()
    assert first.endswith("  moss  Bark")
    assert second.endswith("completed, nothing found, 0 new facts, $0.5000")


def test_runs_says_that_there_are_none(chiron: Chiron) -> None:
    assert chiron("runs").stdout == "No run is like that.\n"
