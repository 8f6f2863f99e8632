import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from chiron_api.cli import build
from chiron_api.services import open_services
from chiron_workers.settings import settings
from chiron_workers.tools.knowledge import store_knowledge

Chiron = Callable[..., Result]
MARCH = "Prune roses in March."


@pytest.fixture
def chiron(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Chiron]:
    monkeypatch.setenv("CHIRON_DATABASE_URL", database_url)
    monkeypatch.setenv("CHIRON_HOME", str(tmp_path / "home"))
    settings.cache_clear()
    yield lambda *arguments: CliRunner().invoke(build(), [str(argument) for argument in arguments])
    settings.cache_clear()


async def state(content: str, url: str) -> str:
    async with open_services(settings(), pool_size=2) as services, services.store() as store:
        receipt = await store_knowledge(
            store, content=content, quote=content, subject_id="garden", source_url=url, source_score=0.9,
            topic_path="a/b", confidence=0.9,
        )  # fmt: skip
    return receipt["fact_id"]


def test_a_subject_is_rechecked_and_what_changed_is_told(chiron: Chiron, tmp_path: Path) -> None:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    file = tmp_path / "roses.md"
    file.write_text(MARCH)
    assert chiron("corpus", "add", file, "-s", "garden").exit_code == 0
    fact_id = asyncio.run(state(MARCH, "corpus://garden/roses.md"))
    assert chiron("recheck", "Garden").output == "garden: 1 source read again, 1 unchanged\n"
    file.write_text("Prune roses in February.")
    output = chiron("recheck", "garden").output
    assert "Changed\n  corpus://garden/roses.md\n" in output
    assert f"Superseded: no source says so any more\n  {MARCH}\n        {fact_id} (superseded)" in output
    shown = chiron("show", fact_id).output
    assert ("superseded, confidence 0.50" in shown, "source changed since" in shown) == (True, True)
    assert "unchecked, in the source's own words; the source no longer says so" in shown
    assert "supported" not in shown
    assert f"the quote stood there when corpus://garden/roses.md was read on {today}; the source no" in shown
    assert "held down to 0.50, since no source says so any more" in shown
    assert ("not verified" in shown, "no quote was verified" in shown) == (False, False)
    file.write_text(MARCH)
    outcome = json.loads(chiron("recheck", "garden", "--json").stdout)
    assert [fact["fact_id"] for fact in outcome["restored_facts"]] == [fact_id]
    assert [source["url"] for source in outcome["changed_sources"]] == ["corpus://garden/roses.md"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("recheck", "gardn"),
        ("recompute", "--subject", "gardn"),
        ("reembed", "--subject", "gardn"),
        ("search", "roses", "--subject", "gardn"),
        ("report", "--subject", "gardn"),
        ("diff", "--subject", "gardn", "--since", "2026-01-01"),
    ],
)
def test_an_unknown_subject_is_a_failure_that_names_the_nearest(
    chiron: Chiron, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    answer = chiron(*arguments)
    assert answer.exit_code == 1
    assert "There is no subject 'gardn', and no other yet" in answer.output
    (tmp_path / "roses.md").write_text(MARCH)
    for subject in ("garden", "physics"):
        chiron("corpus", "add", tmp_path / "roses.md", "-s", subject)
    answer = chiron(*arguments)
    assert answer.exit_code == 1
    assert "There is no subject 'gardn'. The nearest: garden." in answer.output
