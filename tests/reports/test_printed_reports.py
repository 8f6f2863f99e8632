"""What a client gets on paper: answers first, 24 short questions on eight pages, and nothing beside the page."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from docx import Document
from support.browser import CHROMIUM, chromium, window
from support.client_batch import LAKES, lakes_batch, question
from support.document_pages import estimate_pages
from support.research_rows import Shelf

from chiron_api.reports.formats import docx, html, json
from chiron_api.reports.gathering import gather
from chiron_workers.db.connect import Pool

PAGES_MAX = 8
MARGIN_PT = 40  # a little less than the 15 mm at each side
MACHINE_WORDS = ("tokens", "USD", "claude-", "0 cache read", "Report on the batch")


@pytest.mark.acceptance
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: nothing is printed")
async def test_twenty_four_short_questions_fit_on_eight_pages(
    shelf: Shelf, pool: Pool, tmp_path: Path
) -> None:
    batch = lakes_batch(shelf, fruitless=1)
    report = await gather(pool, batch)
    file = tmp_path / "report.html"
    file.write_text("".join(html.render(report)))
    (tmp_path / "report.json").write_text("".join(json.render(report)))
    async with chromium() as browser, window(browser) as (page, complaints):
        await page.goto(file.as_uri())
        await page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
        assert complaints == []
    document = pypdfium2.PdfDocument(tmp_path / "report.pdf")
    assert len(document) <= PAGES_MAX
    assert document[0].get_size() == pytest.approx((595, 842), abs=1)
    pages = [" ".join(sheet.get_textpage().get_text_range().split()) for sheet in document]
    assert pages[0].startswith(
        "Lakes of the world 24 questions on Lakes, researched on 1 March 2026: 46 facts"
    )
    assert not [word for word in (str(batch), *MACHINE_WORDS) if word in pages[0]]
    assert str(batch) in pages[-1] + pages[-2]
    places = [pages[0].index(question(name)) for name in LAKES[:20]]
    assert places == sorted(places)
    assert list(_beyond_margins(document)) == []


def _beyond_margins(document: pypdfium2.PdfDocument) -> Iterator[tuple[int, float, float]]:
    """The lines of words that begin or end beside the text's width, by the numbers of their pages."""
    for number, sheet in enumerate(document):
        width, _ = sheet.get_size()
        words = sheet.get_textpage()
        for n in range(words.count_rects()):
            left, _, right, _ = words.get_rect(n)
            if left < MARGIN_PT or right > width - MARGIN_PT:
                yield number, left, right


async def test_a_document_of_word_has_as_many_pages_and_its_tables_fit_them(shelf: Shelf, pool: Pool) -> None:
    """No program that draws it is at hand: the pages are estimated from its words, sizes and spaces."""
    batch = lakes_batch(shelf, fruitless=1)
    document = Document(BytesIO(b"".join(docx.render(await gather(pool, batch)))))
    assert estimate_pages(document) <= PAGES_MAX
    names = [paragraph.style.name for paragraph in document.paragraphs[:3] if paragraph.style]
    assert names == ["Title", "Normal", "Heading 1"]
    assert document.paragraphs[2].text == "Summary"
    section = document.sections[0]
    assert section.page_width and section.left_margin and section.right_margin
    room = section.page_width.twips - section.left_margin.twips - section.right_margin.twips
    for table in document.tables:
        widths = [int(width) for width in table._tbl.xpath("./w:tblGrid/w:gridCol/@w:w")]
        assert sum(widths) <= room
        for cells in (row.cells for row in table.rows):
            assert [cell.width.twips for cell in cells if cell.width] == widths
    captions = [paragraph for paragraph in document.paragraphs if paragraph.style.name == "Caption"]
    assert [caption.text for caption in captions] == ["… has a maximum depth of … metres"]


async def test_what_the_machine_says_stands_at_the_end(shelf: Shelf, pool: Pool) -> None:
    batch = lakes_batch(shelf, questions=3)
    page = "".join(html.render(await gather(pool, batch)))
    top, end = page.split("How this report was made</h2>")
    words = top[top.index("<body>") :]
    assert not [word for word in (str(batch), *MACHINE_WORDS) if word in words]
    assert str(batch) in end
    assert "and were not checked" in end
