"""Who wrote a source, when, and under which licence it stands, as far as it says so itself."""

from datetime import UTC, datetime
from io import BytesIO

import pytest

from chiron_workers.documents.document import parse_date
from chiron_workers.documents.html import read_html
from chiron_workers.documents.licences import licence_name, licence_of_pdf
from chiron_workers.documents.markdown import read_markdown
from chiron_workers.documents.read_file import Part, read_file
from chiron_workers.documents.rst import read_rst

BY_SA = "https://creativecommons.org/licenses/by-sa/4.0/deed.en"
WORDS = "<article><h1>Moons</h1><p>Mars has two moons, and both of them are quite small indeed.</p></article>"


def page(head: str = "", foot: str = "") -> str:
    return f"<!doctype html><html><head><title>Moons</title>{head}</head><body>{WORDS}{foot}</body></html>"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (BY_SA, "CC BY-SA 4.0"),
        ("http://www.creativecommons.org/licences/by/3.0", "CC BY 3.0"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0 1.0"),
        (" MIT\n License ", "MIT License"),
        ("x" * 900, "x" * 300),
        (None, ""),
        (7, ""),
    ],
)
def test_a_licence_has_its_short_name_or_its_own_words(words: object, name: str) -> None:
    assert licence_name(words) == name


@pytest.mark.parametrize(
    "head",
    [
        f'<link rel="license" href="{BY_SA}">',
        f'<meta name="DC.rights" content="{BY_SA}">',
        f'<meta property="dcterms.license" content="{BY_SA}">',
        f'<script type="application/ld+json">{{"@type": "Article", "license": "{BY_SA}"}}</script>',
        f'<script type="application/ld+json">{{"@graph": [{{"license": {{"@id": "{BY_SA}"}}}}]}}</script>',
        f'<script type="application/ld+json">{{ broken</script><meta name="license" content="{BY_SA}">',
    ],
)
def test_a_page_names_its_licence_in_its_head(head: str) -> None:
    assert read_html(page(head)).licence == "CC BY-SA 4.0"


def test_a_page_names_its_licence_at_its_foot() -> None:
    assert read_html(page(foot=f'<footer><a href="{BY_SA}">Licence</a></footer>')).licence == "CC BY-SA 4.0"
    assert (
        read_html(page(foot='<p><a rel="license" href="/terms">Some rights</a></p>')).licence == "Some rights"
    )


def test_a_pictures_licence_is_not_the_pages() -> None:
    data = f'[{{"@type": "ImageObject", "license": "{BY_SA}"}}]'
    assert read_html(page(f'<script type="application/ld+json">{data}</script>')).licence == ""


def test_front_matter_tells_author_date_and_licence() -> None:
    text = "---\ntitle: Ice\nauthors: [A. Hall, B. Sea]\ndate: 2024-03-01\nlicense: CC0\n---\n\nIt floats.\n"
    document = read_markdown(text)
    expected = ("A. Hall, B. Sea", datetime(2024, 3, 1, tzinfo=UTC), "CC0")
    assert (document.author, document.published_at, document.licence) == expected
    read = read_file(text.encode(), "ice.md", Part())
    assert (read.author, read.published_at, read.licence) == expected
    assert read_markdown("---\n- a\n- list\n---\nWords.").author == ""


def test_fields_at_the_head_of_restructuredtext_tell_them_too() -> None:
    document = read_rst("Ice\n===\n\n:Author: A. Hall\n:Date: 2024-03-01\n:License: MIT\n\nIt floats.\n")
    assert (document.author, document.licence) == ("A. Hall", "MIT")
    assert document.published_at == datetime(2024, 3, 1, tzinfo=UTC)


def test_the_properties_of_a_word_document_tell_its_author_and_no_date_of_publication() -> None:
    import docx

    document, file = docx.Document(), BytesIO()
    document.add_paragraph("It floats.")
    document.core_properties.author = "A. Hall"
    document.core_properties.created = datetime(2024, 3, 1)
    document.save(file)
    found = read_file(file.getvalue(), "ice.docx", Part())
    assert (found.author, found.published_at) == ("A. Hall", None)


def test_a_pdf_names_its_licence_in_its_packet_of_metadata() -> None:
    packet = b'%%PDF-1.7 <x:xmpmeta><rdf:Description><cc:license rdf:resource="%s"/></x:xmpmeta>'
    assert licence_of_pdf(packet % BY_SA.encode()) == "CC BY-SA 4.0"
    rights = b"<x:xmpmeta><dc:rights> <rdf:Alt><rdf:li xml:lang='x-default'>Free to copy</rdf:li>"
    assert licence_of_pdf(rights) == "Free to copy"
    assert licence_of_pdf(b"%PDF-1.7 rights") == ""


@pytest.mark.parametrize("wrong", ["soon", "", None, 7, "2024-13-01", datetime.max])
def test_what_is_no_date_is_none(wrong: object) -> None:
    assert parse_date(wrong) is None or wrong is datetime.max
