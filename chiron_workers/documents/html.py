import html
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chiron_workers.documents.document import Block, Document, author_name, compose, one_line, parse_date
from chiron_workers.documents.licences import licence_name, licence_of_html
from chiron_workers.documents.plain import read_plain

# Elements of trafilatura's simplified tree that are blocks.
LINE_TAGS = {"body", "div", "p", "head", "list", "item", "quote", "table", "row"}
# Only dates in the page's metadata: a search through its text finds the dates of other things.
DATES = {"original_date": True, "extensive_search": False}
TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,300})", re.IGNORECASE)


def read_html(text: str, *, url: str = "", name: str = "") -> Document:
    """The main text of a page, without navigation and advertisements; all text where no main text is found."""
    import trafilatura

    tree = trafilatura.load_html(text)
    licence = "" if tree is None else licence_of_html(tree)
    page: Any = trafilatura.bare_extraction(
        text if tree is None else tree,
        url=url or None,
        with_metadata=True,
        favor_recall=True,
        include_comments=False,
        include_formatting=True,
        date_extraction_params=DATES,
    )
    if page is None:
        title = TITLE.search(text)
        words = trafilatura.html2txt(f"<html><body>{text}</body></html>")
        return read_plain(words, title=html.unescape(title[1]) if title else "", name=name)
    document = compose(_blocks(page.body), title=page.title or "", name=name)
    return replace(
        document,
        author=author_name(page.author),
        published_at=parse_date(page.date),
        licence=licence or licence_name(page.license),
    )


def _blocks(body: Any) -> Iterator[Block]:
    from lxml import etree  # type: ignore[import-untyped]

    words: list[str] = []
    cells = 0  # Depth in table cells, whose content stays on one line.
    for event, element in etree.iterwalk(body, events=("start", "end")):
        verbatim = element.tag in ("code", "quote") and "\n" in (element.text or "").strip()
        own_line = (element.tag in LINE_TAGS or verbatim) and not cells
        cells += (element.tag == "cell") * (1 if event == "start" else -1)
        if own_line:
            text = "".join(words)
            yield Block(
                text if event == "end" and verbatim else one_line(text),
                element.tag == "head" and event == "end",
            )
            words.clear()
        if event == "start":
            words.append(
                {"cell": " | ", "lb": "\n"}.get(element.tag, "") if any(map(str.strip, words)) else ""
            )
        words.append((element.text if event == "start" else element.tail) or "")
