"""A report says where a source no longer bears its citation out."""

from io import BytesIO
from operator import attrgetter

import pytest
from docx import Document

from chiron_api.reports.formats import FORMATS, docx, obsidian
from chiron_api.reports.gathering import gather
from chiron_workers.knowledge.facts.grounds import check_grounds
from chiron_workers.runs.session import Session
from chiron_workers.sources.changes import check_changes, unchecked_changes
from chiron_workers.sources.sources import Page, Sources

GONE, CHANGED = "source gone since 20", "source changed since 2026-03-01: the quote no longer stands there"


@pytest.fixture
async def drifted(sea_ice, pool):
    """The sources of both sides of a contradiction: one is gone, of the other only the words are."""
    async with Session(pool) as session:
        await Sources(session).record_gone("https://a.org/ice", "It answered 404.")
        await Sources(session).save(Page("https://c.org/sonar", "All new.", "text/html"))
    [changes] = await Session(pool).rows_of(unchecked_changes(["https://a.org/ice", "https://c.org/sonar"]))
    await check_changes(pool, changes)
    return sea_ice


async def test_a_citation_is_marked_whose_source_is_gone_or_no_longer_holds_the_words(drifted, pool):
    report = await gather(pool, drifted.batch, with_candidates=True)
    marks = {finding.fact_id: [one.source_mark for one in finding.citations] for finding in report.findings}
    [first, *further] = marks.pop(str(drifted.mean))
    assert (first.startswith(GONE), further) == (True, ["", ""])
    assert marks.pop(str(drifted.opposite)) == [CHANGED]
    assert {mark for each in marks.values() for mark in each} == {""}


def plain(text: str) -> str:
    return text.replace("\\", "")


READABLE = [entry for entry in FORMATS.values() if entry.render or entry is obsidian.FORMAT]


@pytest.mark.parametrize("format", READABLE, ids=attrgetter("name"))
async def test_every_format_of_a_report_shows_the_marks(drifted, pool, format):
    report = await gather(pool, drifted.batch)
    if format is obsidian.FORMAT:
        text = "".join(note for _, note in obsidian.notes(report))
    elif format is docx.FORMAT:
        document = Document(BytesIO(b"".join(docx.render(report))))
        text = "\n".join(paragraph.text for paragraph in document.paragraphs)
    else:
        text = "".join(format.render(report))
    assert GONE in plain(text)
    assert CHANGED in plain(text)


async def test_what_no_source_says_any_more_is_left_out_and_counted_and_contradicts_nothing(drifted, pool):
    await check_grounds(pool, ["https://a.org/ice", "https://c.org/sonar"])
    report = await gather(pool, drifted.batch)
    assert str(drifted.opposite) not in {finding.fact_id for finding in report.findings}
    assert (report.counts["superseded"] > 0, report.contradictions) == (True, ())
    everything = await gather(pool, drifted.batch, with_candidates=True)
    findings = {finding.fact_id: finding for finding in everything.findings}
    opposite = findings[str(drifted.opposite)]
    assert (opposite.status, opposite.is_verified) == ("superseded", False)
    assert [citation.ground for citation in opposite.citations] == ["source changed"]
    text = "".join(FORMATS["md"].render(everything))
    lines = [line for line in text.splitlines() if "superseded" in line and "confidence 0" in line]
    assert any("the source no longer says so" in line for line in lines), lines
    assert not any("not verified" in line for line in lines)


async def test_a_source_that_says_what_it_said_has_no_mark(sea_ice, pool):
    report = await gather(pool, sea_ice.batch)
    assert {one.source_mark for finding in report.findings for one in finding.citations} == {""}
