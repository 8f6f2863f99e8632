"""The headings, paragraphs, rows and other blocks of a tree of HTML."""

from collections.abc import Iterator
from typing import Any

from chiron_workers.documents.document import Block
from chiron_workers.documents.html_tree import rewrite
from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.spacing import set_line, unmark_gaps

# In each, the names of trafilatura's simplified tree stand beside those of HTML.
HEADING_TAGS = {"head", "h1", "h2", "h3", "h4", "h5", "h6"}
ROW_TAGS, CELL_TAGS = {"row", "tr"}, {"cell", "td", "th"}
VERBATIM_TAGS = {"code", "quote", "pre"}
LINE_TAGS = (
    HEADING_TAGS
    | ROW_TAGS
    | {"body", "div", "p", "list", "item", "quote", "table", "ol", "ul", "li", "dl", "dt"}
)
LINE_TAGS |= {"dd", "blockquote", "section", "article", "figure", "figcaption", "details", "summary", "hr"}
LINE_TAGS |= {"nav", "aside", "header", "footer", "main", "form", "fieldset", "legend", "address"}
SEPARATORS = {"cell": " | ", "td": " | ", "th": " | ", "lb": "\n", "br": "\n"}


def html_blocks(text: str, omissions: Omissions) -> Iterator[Block]:
    """The blocks of a piece of HTML. What is not in them is added to `omissions`."""
    from lxml import etree, html  # type: ignore[import-untyped]

    if not text.strip():
        return
    try:
        tree = html.fragment_fromstring(text, create_parent="div")
    except (etree.ParserError, ValueError, AssertionError):
        return
    omissions.extend(rewrite(tree, text))
    yield from tree_blocks(tree)


def tree_blocks(body: Any) -> Iterator[Block]:
    """The blocks of a tree of HTML, or of trafilatura's simplified one; a table's row is one line."""
    from lxml import etree

    words: list[str] = []
    cells: list[str] = []  # of the row at hand
    depth = 0  # in table cells, whose content stays on one line
    for event, element in etree.iterwalk(body, events=("start", "end")):
        verbatim = element.tag in VERBATIM_TAGS and "\n" in (element.text or "").strip()
        if event == "end" and element.tag in CELL_TAGS:
            depth -= 1
            if not depth:
                cells.append(set_line("".join(words)))
                words.clear()
        elif event == "end" and element.tag in ROW_TAGS and not depth:
            # A cell that reaches over the whole table stands once.
            yield Block(" | ".join(cells) if any(cells[1:]) else "".join(cells))
            cells.clear()
        elif (element.tag in LINE_TAGS or verbatim) and not depth:
            text = "".join(words)
            yield Block(
                unmark_gaps(text) if event == "end" and verbatim else set_line(text),
                element.tag in HEADING_TAGS and event == "end",
            )
            words.clear()
        elif depth and element.tag in LINE_TAGS:
            words.append(" ")
        if event == "start":
            depth += element.tag in CELL_TAGS
            if any(map(str.strip, words)):
                words.append(SEPARATORS.get(element.tag, ""))
        words.append((element.text if event == "start" else element.tail) or "")
