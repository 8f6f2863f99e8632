"""Marks in a text that stand for what its reader could not write: no quote may span one, as nobody knows what stood there."""

import re
from enum import StrEnum


class Mark(StrEnum):
    """What stands in a text in the place of something that its reader could not write there."""

    SIGN = "sign"
    FORMULA = "formula"
    PICTURE = "picture without text"
    DRAWING = "drawing"
    OBJECT = "embedded object"
    FIELD = "form field"
    VALUE = "field without a value"
    CHART = "chart"
    PAGE = "page without text"
    UNKNOWN = "part that is not read"

    @property
    def text(self) -> str:
        """As it stands in a text: `[sign]`."""
        return f"[{self.value}]"


MARK = re.compile(rf"\[(?:{'|'.join(re.escape(mark.value) for mark in Mark)})\]")
MARK_CHARS = max(len(mark.text) for mark in Mark)
Span = tuple[int, int]
# A cell of a table or a line of its own, which says nothing else than that there is something.
CELL_BEFORE = re.compile(r"(?:^|\n|\|) ?$")
CELL_BEHIND = re.compile(r" ?(?:$|\n|\|)")
EDGE_CHARS = 2


def spanned_mark(text: str, quote: Span, passage: Span) -> str:
    """The first mark that a quote spans, or that belongs to the sentences around it; empty where there is none.

    Args:
        quote: Where the words of the quote stand in the text.
        passage: The whole sentences that hold it. Cells of a table that are nothing but a mark do not count in them.
    """
    for match in MARK.finditer(text, max(0, passage[0] - MARK_CHARS), passage[1] + MARK_CHARS):
        start, end = match.span()
        if end <= passage[0] or passage[1] <= start:
            continue
        is_quoted = quote[0] < end and start < quote[1]
        before = text[max(0, start - EDGE_CHARS) : start]
        is_cell = CELL_BEFORE.search(before) and CELL_BEHIND.match(text, end)
        if is_quoted or not is_cell or _is_within_words(text, (start, end), passage):
            return match[0]
    return ""


def _is_within_words(text: str, mark: Span, passage: Span) -> bool:
    """Whether a mark on a line of its own has words of the passage on both sides of it, in the same paragraph."""
    before = text[passage[0] : mark[0]].rpartition("\n\n")[2].rstrip(" ")
    behind = text[mark[1] : passage[1]].partition("\n\n")[0].lstrip(" ")
    is_of_table = before.endswith("|") or behind.startswith("|")
    return not is_of_table and bool(before.strip()) and bool(behind.strip())
