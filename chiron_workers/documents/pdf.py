import re
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
from chiron_workers.documents.pdf_scripts import write_scripts
from chiron_workers.documents.pdf_strikes import figure_texts, without_struck_words

PAGES_MAX = 2_000
CHARS_MAX = 2_500_000  # more than is read of a document
# PDFium marks a word that is hyphenated at the end of a line with one of these.
LINE_HYPHEN = re.compile("[\ufffe\x02\xad]\r?\n?")


def read_pdf(data: bytes, *, name: str, first: int = 1, last: int | None = None) -> Document:
    """The text of a PDF. Each page begins with a heading `[Page 3]`; the title is the file's own, else `name`.

    Args:
        first: The first page to read, counted from 1.
        last: The last page, included; None is the end. At most 2,000 pages are read; a last block says so.

    Raises:
        UnreadableError: It is broken or encrypted, has no such page, or holds no text.
    """
    with _open_pdf(data) as pdf:
        pages = len(pdf)
        if first > pages:
            raise UnreadableError(f"it has {pages:,} pages, and none has the number {first:,}")
        title = stated_title(pdf.get_metadata_value("Title"))
        document = replace(
            compose(_blocks(pdf, first, min(last or pages, pages)), title=title or name),
            authors=stated_authors(pdf.get_metadata_value("Author")),
            licence=licence_of_pdf(data),
        )
    if all(block.is_heading for block in document.blocks):
        raise UnreadableError("its pages hold no text; they may be pictures of text")
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


def _blocks(pdf: Any, first: int, last: int) -> Iterator[Block]:
    chars = 0
    for number in range(first, last + 1):
        if number - first == PAGES_MAX or chars > CHARS_MAX:
            yield Block(f"[The pages {number:,} to {last:,} are not shown here.]")
            return
        texts = list(_texts(pdf, number))
        chars += sum(map(len, texts))
        yield Block(f"[Page {number}]", is_heading=True)
        yield from map(Block, texts)


def _texts(pdf: Any, number: int) -> Iterator[str]:
    """The words of a page, and the texts of its figures."""
    raw = import_optional("pypdfium2.raw")
    page = pdf[number - 1]
    with closing(page), closing(page.get_textpage()) as words:
        text = words.get_text_bounded()
        pieces = write_scripts(text, words, raw)
        yield LINE_HYPHEN.sub("", without_struck_words(text, pieces, page, words, raw))
        yield from figure_texts(page, raw)
