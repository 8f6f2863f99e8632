import asyncio
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from support.crate_files import Files, read_files
from support.databases import Databases
from support.research_rows import Shelf

from chiron_api.reports.crate.options import PackingOptions
from chiron_api.reports.crate.packing import pack
from chiron_api.reports.crate.privacy import TextChoice
from chiron_api.reports.gathering import gather
from chiron_workers.db.connect import open_pool

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


@dataclass(frozen=True)
class WholeCrate:
    """What a crate with all texts holds, and the run that it is about."""

    run: UUID
    files: Files


@pytest.fixture
def research(shelf: Shelf) -> Research:
    """The rows of a research of this test's own."""
    return write_research(shelf)


def write_research(shelf: Shelf) -> Research:
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
    gaps = '[{"kind": "formula", "count": 3, "place": "“Dear diary, the secret station”"}]'
    shelf.connection.execute("update fetches set left_out = %s where url not like %s", (gaps, "%c.org%"))
    return Research(shelf, batch, run)


async def pack_all(database_url: str, batch: UUID, folder: Path) -> None:
    async with open_pool(database_url, size=5) as pool:
        report = await gather(pool, batch, with_selections=True)
        await pack(pool, report, folder, PackingOptions(TextChoice.ALL))


@pytest.fixture(scope="module")
def whole_crate(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> WholeCrate:
    """Packed once for all tests of a module, which change copies of it."""
    folder = tmp_path_factory.mktemp("packed") / "crate"
    with databases.lend() as url:
        shelf = Shelf(url)
        research = write_research(shelf)
        shelf.connection.close()
        asyncio.run(pack_all(url, research.batch, folder))
    return WholeCrate(research.run, read_files(folder))


@pytest.fixture
def files(whole_crate: WholeCrate) -> Files:
    """The files of a crate, to change."""
    return dict(whole_crate.files)


@pytest.fixture
def crate(files: Files, tmp_path: Path) -> Path:
    """A crate in a folder, with all texts."""
    for name, content in files.items():
        place = tmp_path / "crate" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return tmp_path / "crate"
