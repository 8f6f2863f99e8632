import zipfile
from io import BytesIO

from docx import Document

from chiron_api.reports.formats import docx
from chiron_api.reports.gathering import gather


async def made(pool, wanted) -> BytesIO:
    return BytesIO(b"".join(docx.render(await gather(pool, wanted))))


async def test_headings_are_headings_and_tables_are_tables(sea_ice, pool):
    document = Document(await made(pool, sea_ice.run))
    headings = [one.text for one in document.paragraphs if one.style.name == "Heading 1"]
    assert headings == [
        "Questions", "Contradictions", "Linked facts", "Learning goal: Sea ice", "Coverage", "Sources",
        "How this report was made",
    ]  # fmt: skip
    assert [cell.text for cell in document.tables[-1].rows[0].cells] == [
        "Topic",
        "State",
        "Facts",
        "Cost",
        "Tokens",
    ]
    assert document.core_properties.title == "How thick is the ice?"


async def test_links_lead_to_sources_and_back_and_out_of_the_document_only_where_that_is_safe(sea_ice, pool):
    file = await made(pool, sea_ice.run)
    document = Document(file)
    body = document.element.xml
    bookmarks = set(document.element.xpath("//w:bookmarkStart/@w:name"))
    anchors = set(document.element.xpath("//w:hyperlink/@w:anchor"))
    assert anchors == {name for name in bookmarks if name[0] != "t"}, "one question has no summary"
    assert "&lt;script&gt;" in body
    with zipfile.ZipFile(file) as archive:
        outward = archive.read("word/_rels/document.xml.rels").decode()
    assert "https://a.org/ice" in outward
    assert "javascript" not in outward
