from functools import partial
from pathlib import Path

import pytest

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.file_types import FileType
from chiron_workers.documents.read_file import FileContent, Part, read_file
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync

ALL = Part()
GOLDEN = Path(__file__).parents[1] / "golden"
DOCUMENTS = [
    ("moons.pdf", FileType.PDF, Part(), ""),
    ("garden.pdf", FileType.PDF, Part(), ""),
    ("bzip2-manual.pdf", FileType.PDF, Part(5, 7), ""),
    ("garden.docx", FileType.DOCX, Part(), ""),
    ("garden.html", FileType.HTML, Part(), ""),
    ("garden-utf8-bom.txt", FileType.TEXT, Part(), ""),
    ("beds.xlsx", FileType.SHEETS, Part(), ""),
    ("beds.xls", FileType.SHEETS, Part(), ""),
    ("beds.ods", FileType.SHEETS, Part(), ""),
    ("beds-utf16.tsv", FileType.CSV, Part(), ""),
    ("beds-cp1252.csv", FileType.CSV, Part(), ""),
    ("rain.xlsx", FileType.SHEETS, Part(), "Rain"),
    ("debian.csv", FileType.CSV, Part(1, 8), ""),
    ("jansson-readme.rst", FileType.TEXT, Part(), ""),
    ("node-synopsis.json", FileType.JSON, Part(), ""),
]


def read(name: str, part: Part = ALL, *, sheet: str = "", called: str = "") -> FileContent:
    job = partial(read_file, (GOLDEN / name).read_bytes(), called or name, part, sheet=sheet)
    return run_sandboxed_sync(job, limits=Limits())


@pytest.mark.parametrize(("name", "kind", "part", "sheet"), DOCUMENTS)
def test_a_document_of_another_program_is_read_as_a_person_would(
    name: str, kind: FileType, part: Part, sheet: str
) -> None:
    content = read(name, part, sheet=sheet)
    assert content.text == (GOLDEN / f"{name}.expected").read_text().removesuffix("\n")
    assert content.file_type is kind


@pytest.mark.parametrize(
    "name", [name for name, kind, *_ in DOCUMENTS if kind in ("pdf", "docx", "html", "spreadsheet")]
)
def test_what_a_file_is_its_content_says_and_not_its_name(name: str) -> None:
    assert read(name, called="photo.png").file_type is read(name).file_type


def test_titles_are_those_of_the_documents() -> None:
    titles = {name: read(name).title for name in ("garden.pdf", "garden.docx", "garden.html", "beds.ods")}
    assert titles == {
        "garden.pdf": "The garden in spring",
        "garden.docx": "The garden in spring",
        "garden.html": "The garden in spring",
        "beds.ods": "beds",
    }


def test_a_workbook_names_its_sheets_and_gives_the_one_that_is_asked_for() -> None:
    first, second = read("rain.xlsx"), read("rain.xlsx", sheet="Notes 2024")
    assert (first.sheet, first.sheets) == ("Rain", ("Rain", "Notes 2024"))
    assert second.text == ",below the gap"
    with pytest.raises(UnreadableError, match="it has no sheet 'Sun'; its sheets are 'Rain', 'Notes 2024'"):
        read("rain.xlsx", sheet="Sun")


def test_rows_lines_and_pages_can_be_asked_for() -> None:
    assert (
        read("beds.ods", Part(3, 4)).text
        == 'Pea,2,80.25,2024-04-11,false,"says ""Meteor"""\nRose,1,150,1998-11-20,true,Größe 花'
    )
    assert read("debian.csv", Part(2, 2)).text.startswith("1.1,Buzz,buzz,1993-08-16,1996-06-17")
    lines = read("jansson-readme.rst", Part(3, None))
    assert (lines.unit, lines.first, lines.last) == ("lines", 3, lines.count)
    pages = read("bzip2-manual.pdf", Part(38, 99))
    assert (pages.unit, pages.count, pages.first, pages.last) == ("pages", 38, 38, 38)
    for name, words in (("beds.ods", "5 rows"), ("garden.docx", "28 lines"), ("moons.pdf", "2 pages")):
        with pytest.raises(UnreadableError, match=f"it has {words}, and none has the number 1,000"):
            read(name, Part(1000, None))


@pytest.mark.parametrize(
    ("module", "name", "package"),
    [
        ("pypdfium2", "moons.pdf", "pypdfium2"),
        ("lxml.etree", "garden.docx", "lxml"),
        ("python_calamine", "beds.xlsx", "python-calamine"),
    ],
)
def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it(
    module: str, name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(UnreadableError, match=f"run `pip install {package}`"):
        read_file((GOLDEN / name).read_bytes(), name, Part())


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(99), "it is a PNG picture"),
        (b"\x1f\x8b" + bytes(99), "it is a gzip archive"),
        (b"PK\x03\x04" + bytes(99), "it is a broken ZIP archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "of an old Office program"),
        (bytes(range(256)) * 9, "it is binary, not text"),
        (b" \n\n", "it holds no text"),
        (b"", "it holds no text"),
        ((GOLDEN / "beds.parquet").read_bytes(), "it is a Parquet table; data_table reads it"),
    ],
)
def test_what_cannot_be_read_is_called_by_its_name(data: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableError, match=sentence):
        read_file(data, "file", Part())


def test_json_without_line_breaks_is_laid_out() -> None:
    long = (
        b'{"values": ['
        + b", ".join(b"%d" % n for n in range(1000))
        + b', 1e999], "name": "Gr\\u00f6\\u00dfe"}'
    )
    content = read_file(long, "a.json", Part())
    assert content.text.endswith('\n ],\n "name": "Größe"\n}')
    assert read_file(b"[" * 100_000, "a.json", Part()).text == "[" * 100_000
    assert read_file(b'{"a": 1}\n{"a": 2}\n', "a.jsonl", Part(2, 2)).text == '{"a": 2}'
