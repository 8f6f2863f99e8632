import os
import random
from pathlib import Path
from shutil import copy

import pytest

from chiron_workers.documents.document import CUT_NOTE
from chiron_workers.documents.read_folder import (
    FILE_BYTES_MAX,
    FileDocument,
    SkippedFile,
    read_document,
    read_folder,
)
from chiron_workers.errors import UsageError

GOLDEN = Path(__file__).parents[1] / "golden"
MARKDOWN = """---
title: Moons of *Mars*
---
# Overview

Mars has **two** [moons](https://example.org), `Phobos`
and Deimos.

- Phobos is the larger one.

| Moon | km |
|------|----|
| Phobos | 22 |

```python
radius = 11
```

Discovery
---------

Asaph Hall found <b>both</b> in 1877.
"""
RST = """
.. module:: mars
   :synopsis: none

============
Mars' moons
============

Mars has two :class:`~planets.Moon` objects, :ref:`listed here <moons-label>`, and |more|.

.. versionadded:: 3.2
   Deimos is :strangerole:`smaller`.

.. function:: orbit(moon, *, days)
   :noindex:

   Gives the orbit of a moon.

.. toctree::
   :maxdepth: 2

   hidden-page

.. include:: secret.txt

.. raw:: html

   <script>alert(1)</script>

.. csv-table::
   :file: secret.txt

Discovery
---------

.. note:: Asaph Hall found both in 1877.

.. code-block:: python

   radius = 11
"""
HTML = """<!doctype html><html><head><title>Moons</title><meta charset="iso-8859-1">
<meta name="author" content="Asaph Hall"><style>p {color: red}</style></head><body>
<nav><a href="/">Home</a> <a href="/buy">Buy now</a></nav><article><h1>Moons of Mars</h1>
<p>Mars has two moons, <b>Phobos</b> and Deimos, and both are rather small for moons. Élan.</p>
<h2>Discovery</h2><p>Asaph Hall found both of them in the summer of 1877, in Washington.</p>
<table><tr><td>Phobos</td><td>22 km</td></tr></table></article><script>alert(1)</script></body></html>"""


def only(path: Path) -> FileDocument:
    (files,) = read_folder(path)
    assert isinstance(files, FileDocument), files
    return files


def reason(path: Path) -> str:
    (files,) = read_folder(path)
    assert isinstance(files, SkippedFile), files
    return files.reason


def test_markdown_gives_its_words_headings_tables_and_code_without_markup(tmp_path: Path) -> None:
    (tmp_path / "moons.md").write_text(MARKDOWN)
    document = only(tmp_path).document
    assert document.title == "Moons of *Mars*"
    assert [block.text for block in document.blocks if block.is_heading] == ["Overview", "Discovery"]
    assert "Mars has two moons, Phobos and Deimos." in document.text
    assert "Phobos | 22" in document.text
    assert "radius = 11" in document.text
    assert "Asaph Hall found both in 1877." in document.text
    assert not {"**", "https://", "<b>", "---", "```"} & set(document.text.split())


def test_restructuredtext_for_sphinx_is_read_as_words_and_nothing_in_it_is_executed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret word is xyzzy")
    (tmp_path / "moons.rst").write_text(RST)
    document = only(tmp_path / "moons.rst").document
    assert document.title == "Mars' moons"
    assert "Mars has two Moon objects, listed here, and |more|." in document.text
    assert "New in version 3.2" in document.text
    assert "Deimos is smaller." in document.text
    assert "orbit(moon, *, days)" in document.text
    assert "Gives the orbit of a moon." in document.text
    assert "Asaph Hall found both in 1877." in document.text
    assert "radius = 11" in document.text
    for absent in ("xyzzy", "alert(1)", "hidden-page", "noindex", "synopsis"):
        assert absent not in document.text


def test_html_gives_the_article_and_leaves_out_navigation_scripts_and_styles(tmp_path: Path) -> None:
    (tmp_path / "moons.html").write_bytes(HTML.encode("latin-1"))
    document = only(tmp_path).document
    assert (document.title, document.author) == ("Moons of Mars", "Asaph Hall")
    assert "Mars has two moons, Phobos and Deimos" in document.text
    assert "Élan." in document.text
    assert "Phobos | 22 km" in document.text
    for absent in ("Buy now", "alert", "color"):
        assert absent not in document.text


def test_plain_text_keeps_its_paragraphs_and_takes_underlined_lines_for_headings(tmp_path: Path) -> None:
    (tmp_path / "moons_of_mars.txt").write_text("Mars\n****\n\nTwo moons.\n\n\n   An indented\n   example.\n")
    document = only(tmp_path).document
    assert document.title == "Mars"
    assert document.text == "Mars\n\nTwo moons.\n\n   An indented\n   example."


def test_a_document_without_a_heading_is_called_after_its_file(tmp_path: Path) -> None:
    (tmp_path / "moons_of-mars.txt").write_text("Two moons.")
    assert only(tmp_path).document.title == "moons of mars"


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("utf-8-sig", "Größe"),
        ("utf-16", "Größe der Monde"),
        ("utf-32", "Größe"),
        (
            "cp1252",
            "Die Größe der Monde ist für die Bahn „unerheblich“, schrieb man früher. Über Maße später.",
        ),
    ],
)
def test_text_in_any_charset_is_read(tmp_path: Path, charset: str, text: str) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode(charset))
    assert only(tmp_path).document.text == text


def test_invalid_utf8_is_still_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Phobos orbits Mars \xff\xfe three times a day, and Deimos less often.")
    assert "orbits Mars" in only(tmp_path).document.text


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.rst", "a.html"])
def test_binary_rubbish_is_skipped_with_a_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(random.Random(7).randbytes(50_000))
    assert "binary" in reason(tmp_path)
    (tmp_path / name).write_bytes(b"\xff\xfe" + random.Random(7).randbytes(50_000))
    assert "binary" in reason(tmp_path)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.rst", "a.html"])
def test_a_line_of_five_megabytes_is_read_in_a_moment(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("[word " * 833_334)
    text = only(tmp_path).document.text
    assert (len(text) > 2_000_000, text.endswith(CUT_NOTE)) == (True, True)


def test_a_folder_is_read_to_the_bottom_in_a_steady_order_without_hidden_files(tmp_path: Path) -> None:
    for path in ("b.txt", "a/z.md", "a/a.txt", ".git/config.txt", ".hidden.txt"):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("Words.")
    assert [files.path for files in read_folder(tmp_path)] == ["b.txt", "a/a.txt", "a/z.md"]


def test_links_in_circles_out_of_the_folder_or_to_nowhere_are_skipped(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("Not yours.")
    (root / "circle").symlink_to(root)
    (root / "loop.txt").symlink_to(root / "loop.txt")
    (root / "nowhere.txt").symlink_to(root / "missing.txt")
    (root / "out.txt").symlink_to(tmp_path / "outside.txt")
    files = list(read_folder(root))
    assert all(isinstance(file, SkippedFile) for file in files)
    assert [file.path for file in files] == ["loop.txt", "nowhere.txt", "out.txt"]


def test_pipes_empty_files_other_formats_and_huge_files_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert reason(tmp_path / "pipe.txt") == "it is no regular file"
    (tmp_path / "empty.md").write_text("  \n\n")
    assert reason(tmp_path / "empty.md") == "it holds no text"
    (tmp_path / "a.odt").write_bytes(b"PK")
    assert "its format is none of .md" in reason(tmp_path / "a.odt")
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(FILE_BYTES_MAX + 1)
    assert reason(tmp_path / "huge.txt") == "it is larger than 10 MB"


def test_a_path_that_does_not_exist_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing does not exist"):
        read_folder(tmp_path / "nothing")


def test_pdf_and_word_documents_are_read_and_broken_ones_say_why(tmp_path: Path) -> None:
    for name in ("garden.pdf", "garden.docx", "encrypted.pdf"):
        copy(GOLDEN / name, tmp_path)
    (tmp_path / "cut.docx").write_bytes((GOLDEN / "garden.docx").read_bytes()[:3_000])
    files = {file.path: file for file in read_folder(tmp_path)}
    for name in ("garden.pdf", "garden.docx"):
        file = files[name]
        assert isinstance(file, FileDocument)
        assert file.document.title == "The garden in spring"
        assert "Prune roses in March" in file.document.text
    assert files["encrypted.pdf"] == SkippedFile("encrypted.pdf", "it is encrypted and needs a password")
    assert files["cut.docx"] == SkippedFile("cut.docx", "it is no whole Word document")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("garden.pdf", "notes.txt"),
        ("garden.docx", "notes.md"),
        ("garden.docx", "a.pdf"),
        ("garden.html", "a.txt"),
    ],
)
def test_what_a_file_is_its_content_says_and_not_its_ending(tmp_path: Path, source: str, name: str) -> None:
    copy(GOLDEN / source, tmp_path / name)
    copy(GOLDEN / source, tmp_path / source)
    renamed, original = (read_document(tmp_path / file, file) for file in (name, source))
    assert isinstance(renamed, FileDocument)
    assert isinstance(original, FileDocument)
    assert (renamed.content_type, renamed.document.text) == (original.content_type, original.document.text)


@pytest.mark.parametrize(
    ("content", "name", "sentence"),
    [
        (b"All of this is rubbish.", "a.pdf", "it is called .pdf, but its content is of another kind"),
        (b"All of this is rubbish.", "a.docx", "it is called .docx, but its content is of another kind"),
        (b"%PDF-1.7 and rubbish", "a.txt", "it is no whole PDF"),
        ((GOLDEN / "beds.xlsx").read_bytes(), "a.txt", "it is a table; data_table reads it"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a.md", "it is a PNG picture"),
        (b"PK\x03\x04 and rubbish", "a.rst", "it is a broken ZIP archive"),
    ],
)
def test_a_file_of_another_kind_than_its_ending_says_is_skipped_with_one_sentence(
    tmp_path: Path, content: bytes, name: str, sentence: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert reason(tmp_path) == sentence


@pytest.mark.parametrize(
    "text",
    ["A PDF begins with %PDF-1.7 in its first line.", "RIFF is a format of sounds.", "GIF89a is old.", "BZh"],
)
def test_a_text_that_speaks_of_a_signature_is_a_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    assert only(tmp_path).document.text == text
