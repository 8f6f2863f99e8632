"""Default values that programs write into file properties are ignored."""

from datetime import datetime
from io import BytesIO

import pytest

from chiron_workers.documents.docx import read_docx
from chiron_workers.documents.file_properties import stated_authors, stated_title


@pytest.mark.parametrize(
    "title",
    [
        "Microsoft Word - Document1",
        "Microsoft Word - tides_final.docx",
        "Microsoft PowerPoint - Tides.ppt",
        "Document1",
        "untitled",
        "PowerPoint Presentation",
        "PowerPoint-Präsentation",
        "Présentation PowerPoint",
        "Untitled document",
        "Slide 1",
        "Bericht.docx",
        r"C:\Users\x\a.doc",
        "Документ Microsoft Word",
        "Diapositiva 1",
        "No Slide Title",
        "",
    ],
)
def test_stated_title_leaves_out_the_defaults_of_programs(title: str):
    assert stated_title(title) == ""


@pytest.mark.parametrize(
    "title", ["Microsoft Word for sailors", "Documents of the port", "Presentation of the tides", "Tides"]
)
def test_stated_title_leaves_the_titles_of_people(title: str):
    assert stated_title(f" {title}\n") == title


@pytest.mark.parametrize(
    "author",
    [
        "python-docx",
        "Windows User",
        "Windows-Benutzer",
        "Microsoft Office User",
        "Administrator",
        "user",
        "Apache POI",
        "Пользователь Windows",
        "Windows 用户",
        "Lenovo User",
        "Microsoft account",
        "WPS Office",
    ],
)
def test_stated_authors_leave_out_the_defaults_of_programs(author: str):
    assert stated_authors(author) == ()
    assert stated_authors(f"{author}; Ann Lee") == ("Ann Lee",)


def test_stated_authors_leave_the_names_of_people():
    assert stated_authors("Ann Windows; Usher, Bo") == ("Ann Windows", "Usher, Bo")


def test_a_word_document_has_what_people_said_in_its_properties_and_no_date_of_publication():
    docx = pytest.importorskip("docx")
    document, file = docx.Document(), BytesIO()
    document.add_paragraph("High water is at 06:12.")
    document.core_properties.created = datetime(2024, 3, 1)
    document.core_properties.title = "Microsoft Word - Document1"
    document.save(file)
    found = read_docx(file.getvalue(), name="tides")
    assert (found.title, found.authors, found.published_at) == ("tides", (), None)
    document.core_properties.author, document.core_properties.title = "García Márquez, Gabriel", "Tides"
    document.save(file)
    found = read_docx(file.getvalue(), name="tides")
    assert (found.title, found.authors, found.published_at) == ("Tides", ("García Márquez, Gabriel",), None)
