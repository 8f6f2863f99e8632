from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from support.crate_files import Files, read_files
from support.research_rows import Shelf

from chiron_api.reports.crate.packing import pack
from chiron_api.reports.crate.privacy import TextChoice
from chiron_api.reports.gathering import gather

SURVEY = (
    "🧊 A survey of the ice\n\nThe mean thickness was 1.9 m in winter 2023. Satellites measure the freeboard of the ice. "
    "Old ice is thicker than young ice. The ice is thin here. The ice is thin here. e\u0301tude."
)
SONAR = "A later survey found a mean thickness of 2.4 m for the winter of 2023. It used moored sonar."
NOTES = "My own note: the figure of 1.9 m holds for February alone, says Ms. Winter."
DIARY = "Dear diary, the secret station lies at 81 degrees north."


@dataclass(frozen=True)
class Research:
    shelf: Shelf
    batch: UUID
    run: UUID


@pytest.fixture
def research(shelf: Shelf) -> Research:
    """A batch whose facts rest on pages of the web, a document of one's own and a file."""
    shelf.subject("sea-ice", "Sea ice")
    batch = shelf.batch("sea-ice", "Winter {reading} 100 %")
    run = shelf.run("sea-ice", batch, "How thick is the ice?", answer="It is thin.")
    shelf.run(
        "sea-ice", batch, "What lives there?", state="failed", model="claude-haiku", facts=0, spent_usd=0.125,
        error='{"kind": "refused", "message": "https://a.org/?api_key=TOPSECRET answered 403."}',
    )  # fmt: skip
    facts = {}
    for name, content, quote in (
        ("mean", "In winter 2023 the ice was 1.9 m thick.", "The mean thickness was 1.9 m in winter 2023."),
        (
            "freeboard",
            "Satellites measure the freeboard of the ice.",
            "Satellites measure the freeboard of the ice.",
        ),
        ("old", "Ice grows thicker with age.", "Old ice is thicker than young ice."),
        ("thin", "The ice is thin at the station.", "The ice is thin here."),
    ):
        facts[name] = shelf.fact(
            "sea-ice", content, "https://reader:TOPSECRET@a.org/ice?x=1&access_token=TOPSECRET", f"thickness/{name}",
            quote=quote, text=SURVEY, run_id=run,
        )  # fmt: skip
    sonar = shelf.fact(
        "sea-ice", "In winter 2023 the ice was 2.4 m thick.", "https://c.org/sonar", "thickness/mean",
        quote="A later survey found a mean thickness of 2.4 m for the winter of 2023.", text=SONAR, run_id=run,
        status="disputed", confidence=0.45,
    )  # fmt: skip
    shelf.link(sonar, facts["mean"], "contradicts")
    shelf.confirm(facts["mean"], "The mean was 1.9 m.", "https://b.org/x", quote="no such words")
    shelf.fact(
        "sea-ice", "The 1.9 m are those of February.", "corpus://sea-ice/notes.md", "thickness/mean",
        quote="My own note: the figure of 1.9 m holds for February alone, says Ms. Winter.", text=NOTES, run_id=run,
    )  # fmt: skip
    shelf.fact(
        "sea-ice", "There is a station at 81 degrees north.", "file:///home/me/diary.md", "stations",
        quote="Dear diary, the secret station lies at 81 degrees north.", text=DIARY, run_id=run,
    )  # fmt: skip
    shelf.connection.execute(
        "update fetches set title = 'Ice', author = 'A. Ice', licence = 'CC BY 4.0' where url like %s",
        ("%a.org%",),
    )
    return Research(shelf, batch, run)


@pytest.fixture
async def crate(research: Research, pool, tmp_path: Path) -> Path:
    """A crate in a folder, with all texts."""
    report = await gather(pool, research.batch, with_selections=True)
    await pack(pool, report, tmp_path / "crate", texts=TextChoice.ALL, force=False)
    return tmp_path / "crate"


@pytest.fixture
def files(crate: Path) -> Files:
    return read_files(crate)
