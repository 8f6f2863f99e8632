"""What a reader sees. Pictures and PDFs stay in the folder of the test, to be looked at."""

import shutil
import subprocess

import pypdfium2
import pytest
from support.browser import CHROMIUM, chromium, window

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


@pytest.mark.acceptance
@needs_chromium
async def test_the_page_fits_a_phone_and_a_desktop_and_prints(sea_ice, pool, tmp_path):
    page_file = tmp_path / "report.html"
    page_file.write_text("".join(html.render(await gather(pool, sea_ice.run))))
    async with chromium() as browser:
        for width, is_dark in ((390, False), (390, True), (1280, False)):
            opened = window(browser, width=width, is_phone=width < 600, is_dark=is_dark)
            async with opened as (page, complaints):
                await page.goto(page_file.as_uri())
                assert await page.evaluate("document.documentElement.scrollWidth") <= width
                assert await page.evaluate(OUTSIDE) == []
                # The page's own policy lets its style through.
                assert await page.evaluate("document.styleSheets.length") == 1
                assert complaints == []
                await page.screenshot(path=tmp_path / f"{width}{'-dark' * is_dark}.png", full_page=True)
        async with window(browser) as (page, _):
            await page.goto(page_file.as_uri())
            await page.pdf(path=tmp_path / "report.pdf", format="A4", prefer_css_page_size=True)
    text = _text(tmp_path / "report.pdf")
    assert "https://a.org/ice" in text
    assert "Skip to the content" not in text


# Elements that begin or end beside the page, where nobody sees them.
OUTSIDE = """[...document.querySelectorAll('main *')].filter(element => {
  const box = element.getBoundingClientRect(), style = getComputedStyle(element)
  const isOutside = box.left < 0 || box.right > innerWidth + 1
  return style.position !== 'absolute' && !element.closest('thead') && box.width && isOutside
}).map(element => element.outerHTML.slice(0, 200))"""


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
