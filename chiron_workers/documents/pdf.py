from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from chiron_workers.documents.document import (
    Block,
    Document,
    UnreadableError,
    compose,
    import_optional,
)
from chiron_workers.documents.file_properties import stated_authors, stated_title
from chiron_workers.documents.licences import licence_of_pdf
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.pdf_annotations import ATTACHMENT, annotation_texts, deleting_lines, form_of
from chiron_workers.documents.pdf_hyphens import without_line_hyphens
from chiron_workers.documents.pdf_layout import blocks_of
from chiron_workers.documents.pdf_objects import lost_pieces, page_objects
from chiron_workers.documents.pdf_scripts import write_scripts
from chiron_workers.documents.pdf_signs import write_signs
from chiron_workers.documents.pdf_strikes import drop_struck_words, figure_texts
from chiron_workers.documents.pdf_text import PageText

PAGES_MAX = 2_000
CHARS_MAX = 2_500_000  # more than is read of a document
XFA_FORMS = (2, 3)  # of PDFium: all of the form, or a part of it, is in a format that viewers no longer show


def read_pdf(data: bytes, *, name: str, first: int = 1, last: int | None = None) -> Document:
    """The text of a PDF. Each page begins with a heading `[Page 3]`; the title is the file's own, else `name`.

    Args:
        first: The first page to read, counted from 1.
        last: The last page, included; None is the end. At most 2,000 pages are read; a last block says so.

    Raises:
        UnreadableError: It is broken or encrypted, has no such page, or holds no text.
    """
    omissions = Omissions()
    with _open_pdf(data) as pdf, form_of(pdf) as form:
        pages = len(pdf)
        if files := pdf.count_attachments():
            omissions.add(ATTACHMENT, count=files)
        if pdf.get_formtype() in XFA_FORMS:
            omissions.add("XFA form")
        if first > pages:
            raise UnreadableError(f"it has {pages:,} pages, and none has the number {first:,}")
        title = stated_title(pdf.get_metadata_value("Title"))
        document = replace(
            compose(_blocks(pdf, first, min(last or pages, pages), form, omissions), title=title or name),
            authors=stated_authors(pdf.get_metadata_value("Author")),
            licence=licence_of_pdf(data),
            left_out=omissions.all(),
        )
    if all(block.is_heading or block.text == Mark.PAGE.text for block in document.blocks):
        raise UnreadableError(
            "its fonts do not say which letters their glyphs are"
            if any(omission.kind == Mark.SIGN.value for omission in document.left_out)
            else "its pages hold no text; they may be pictures of text"
        )
    return document


def page_count(data: bytes) -> int:
    """How many pages a PDF has. Raises UnreadableError."""
    with _open_pdf(data) as pdf:
        return len(pdf)


@contextmanager
def _open_pdf(data: bytes) -> Iterator[Any]:
    pdfium = import_optional("pypdfium2")
    try:
        with closing(pdfium.PdfDocument(data)) as pdf:
            yield pdf
    except pdfium.PdfiumError as error:
        if error.err_code == pdfium.raw.FPDF_ERR_PASSWORD:
            raise UnreadableError("it is encrypted and needs a password") from None
        raise UnreadableError("it is no whole PDF") from None


def _blocks(pdf: Any, first: int, last: int, form: Any, omissions: Omissions) -> Iterator[Block]:
    chars = 0
    for number in range(first, last + 1):
        if number - first == PAGES_MAX or chars > CHARS_MAX:
            yield Block(f"[The pages {number:,} to {last:,} are not shown here.]")
            return
        blocks = list(_page_blocks(pdf, number, form, omissions))
        chars += sum(len(block.text) for block in blocks)
        yield Block(f"[Page {number}]", is_heading=True)
        yield from blocks


def _page_blocks(pdf: Any, number: int, form: Any, omissions: Omissions) -> Iterator[Block]:
    """The words of a page, the texts of its figures and its form fields."""
    raw = import_optional("pypdfium2.raw")
    place = f"page {number}"
    page = pdf[number - 1]
    with closing(page), closing(page.get_textpage()) as words:
        objects = page_objects(page, raw)
        text = PageText(words, raw)
        text.put_in_lost_pieces(lost_pieces(objects, text))
        pieces = write_scripts(text)
        is_readable = write_signs(text, pieces, objects.fonts.values(), omissions, place=place)
        if struck := drop_struck_words(text, pieces, [*objects.lines, *deleting_lines(page, raw)]):
            omissions.add("passage that is struck out", place=place, count=struck)
        figures = list(figure_texts(page, raw))
        if is_readable and text.text.strip():
            if (pictures := objects.pictures - len(figures)) > 0:
                omissions.add(Mark.PICTURE.value, place=place, count=pictures)
            if objects.has_drawing and not figures:
                omissions.add(Mark.DRAWING.value, place=place)
            for block in blocks_of(text, pieces):
                yield replace(block, text=without_line_hyphens(block.text))
            if text.lines_outside:
                omissions.add("line outside the page", place=place, count=text.lines_outside)
        elif objects.count and not figures:
            # A scanned page, or one whose letters nobody knows.
            yield Block(omissions.mark(Mark.PAGE, place=place))
        for words_beside in (*figures, *annotation_texts(page, form, omissions, raw, place=place)):
            yield Block(words_beside)
