"""What a reader sees. Pictures and PDFs stay in the folder of the test, to be looked at."""

import shutil
import subprocess

import pypdfium2
import pytest
from support.headless_chromium import CHROMIUM, browsing

from chiron_api.reports.formats import docx, html
from chiron_api.reports.gathering import gather
from chiron_api.reports.write import write

SOFFICE = shutil.which("soffice")
WHITE = 255

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="chromium is not installed: no pictures of the HTML report"
)
needs_soffice = pytest.mark.skipif(
    SOFFICE is None, reason="soffice is not installed: no picture of the docx report"
)


@needs_chromium
async def test_the_page_fits_a_phone_and_a_desktop_and_prints(sea_ice, pool, tmp_path):
    page_file = tmp_path / "report.html"
    page_file.write_text("".join(html.render(await gather(pool, sea_ice.run))))
    async with browsing(tmp_path) as page:
        for width, dark in ((390, False), (390, True), (1280, False)):
            await page.show(page_file, width=width, dark=dark)
            assert await page.value("document.documentElement.scrollWidth") <= width
            assert await page.value(OUTSIDE) == []
            await page.picture(tmp_path / f"{width}{'-dark' * dark}.png")
        # The page's own policy lets its style through.
        assert await page.value("document.styleSheets.length") == 1
        assert page.complaints == []
        await page.paper(tmp_path / "report.pdf")
    text = _text(tmp_path / "report.pdf")
    assert "https://a.org/ice" in text
    assert "Skip to the content" not in text


# Elements that begin or end beside the page, where nobody sees them.
OUTSIDE = """[...document.querySelectorAll('main *')].filter(one => {
  const box = one.getBoundingClientRect(), style = getComputedStyle(one)
  return style.position !== 'absolute' && !one.closest('thead') && box.width && (box.left < 0 || box.right > innerWidth + 1)
}).map(one => one.outerHTML.slice(0, 200))"""


@needs_soffice
async def test_the_document_opens_in_libreoffice(sea_ice, pool, tmp_path):
    write(await gather(pool, sea_ice.run), docx.FORMAT, tmp_path / "report.docx")
    profile = f"-env:UserInstallation={(tmp_path / 'office').as_uri()}"
    command = [
        SOFFICE,
        profile,
        "--headless",
        "--convert-to",
        "pdf",
        "--outdir",
        tmp_path,
        tmp_path / "report.docx",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    document = pypdfium2.PdfDocument(tmp_path / "report.pdf")
    assert len(document) >= 3
    assert document[0].render(scale=1).to_numpy().min() < WHITE
    text = _text(tmp_path / "report.pdf")
    assert "How thick is the ice?" in text
    assert "https://a.org/ice" in text


def _text(file) -> str:
    document = pypdfium2.PdfDocument(file)
    return " ".join(document[n].get_textpage().get_text_range() for n in range(len(document)))
