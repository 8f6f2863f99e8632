"""Every face shows a fact that no model has judged as unchecked, even if it repeats its quote."""

import asyncio
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from support.api_server import keyed_client

from chiron_api.reports.formats import FORMATS
from chiron_api.services import open_services
from chiron_workers.settings import Settings
from chiron_workers.settings import settings as read_settings
from chiron_workers.tools.knowledge import store_knowledge

Chiron = Callable[..., Result]
MYTH = "The bridge sways in every storm."
PAGE = f"Two claims about the bridge\n\nCritics of the bridge make two claims. {MYTH} It costs too much."


@pytest.fixture
def fact_id(chiron: Chiron, tmp_path: Path) -> str:
    """A fact in the words of its quote, stored where no model can be asked."""
    file = tmp_path / "bridge.md"
    file.write_text(PAGE)
    assert chiron("corpus", "add", str(file), "-s", "bridges").exit_code == 0

    async def store() -> str:
        async with open_services(read_settings(), pool_size=2) as services, services.store() as writer:
            receipt = await store_knowledge(
                writer, content=MYTH, quote=MYTH, subject_id="bridges", source_url="corpus://bridges/bridge.md",
                source_score=0.9, topic_path="a/b", confidence=0.9,
            )  # fmt: skip
        assert (receipt["status"], receipt["verdict"]) == ("stored", "unchecked")
        assert "verdict_by" not in receipt
        assert "No model has judged" in receipt["note"]
        return receipt["fact_id"]

    return asyncio.run(store())


def test_commands_show_it_unchecked_with_a_note_on_its_wording(chiron: Chiron, fact_id: str) -> None:
    shown = chiron("show", fact_id).stdout
    assert "unchecked, in the source's own words: No model was asked." in shown
    [assertion] = json.loads(chiron("show", fact_id, "--json").stdout)["assertions"]
    assert (assertion["verdict"], assertion["verdict_by"], assertion["is_verbatim"]) == (
        "unchecked",
        "",
        True,
    )
    told = [
        shown,
        chiron("search", "bridge storm", "--subject", "bridges").stdout,
        chiron("export", "bridges").stdout,
    ]
    assert all(MYTH in text and "supported" not in text for text in told)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_reports_in_all_formats_call_it_supported_nowhere(
    chiron: Chiron, fact_id: str, tmp_path: Path, name: str
) -> None:
    place = tmp_path / "report"
    written = chiron("report", "--subject", "bridges", "--format", name, "--output", str(place))
    assert written.exit_code == 0, written.output
    texts = texts_of(tmp_path)
    assert any("report" in path for path in texts)
    assert [path for path, text in texts.items() if "supported" in text] == []


def test_a_crate_verifies_and_says_that_rules_confirm_nothing(
    chiron: Chiron, fact_id: str, tmp_path: Path
) -> None:
    crate = str(tmp_path / "crate.zip")
    assert (
        chiron(
            "report", "--subject", "bridges", "--format", "crate", "--texts", "all", "--output", crate
        ).exit_code
        == 0
    )
    verified = chiron("verify", crate)
    assert verified.exit_code == 0, verified.output
    assert "Statements with a quote: 1, of which 1 have its words." in verified.stdout
    assert "They never confirm one." in verified.stdout
    assert "supported" not in verified.stdout


def test_its_page_and_its_answer_over_http_call_it_unchecked(fact_id: str, settings: Settings) -> None:
    async def read() -> tuple[str, str]:
        async with keyed_client(settings) as client:
            page = await client.get(f"/facts/{fact_id}")
            answer = await client.get(f"/v1/facts/{fact_id}")
        return page.text, answer.text

    page, answer = asyncio.run(read())
    assert "unchecked, in the source&#39;s own words" in page
    assert '"verdict": "unchecked"' in answer
    assert "supported" not in page + answer


def texts_of(folder: Path) -> dict[str, str]:
    """The contents of the files and archives below a folder, by path."""
    texts = {}
    for file in folder.rglob("*"):
        if file.is_file() and zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                texts |= {
                    f"{file}/{name}": archive.read(name).decode(errors="replace")
                    for name in archive.namelist()
                }
        elif file.is_file() and "home" not in file.parts:
            texts[str(file)] = file.read_text(errors="replace")
    return texts
