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
LOOK_CHARS = 100
# A picture is mostly no part of the sentence beside it; the other marks replace a part of the sentence.
PICTURES = frozenset(mark.text for mark in (Mark.PICTURE, Mark.DRAWING, Mark.CHART))
SENTENCE_END = re.compile(r"[.!?…:;。！？][\"'”’»)\]]*\s*$")
LABEL_END = re.compile(r":\s")  # `Figure [field without a value]: the words of a caption`
LINE_END = re.compile(r"[^\S\n]*(?:\n|$)")


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


def without_pictures(text: str, quote: Span, passage: Span) -> Span:
    """The sentences around a quote without the marks of pictures before and behind them, others on lines of their own, and the
    labels of captions whose number is not known.

    A picture stands before a sentence if it begins or ends a line, or another sentence ends there, and a capital follows: a
    small letter or a digit would go on with what the picture shows. It stands behind one that ends with its full stop.
    """
    start, end = passage
    for match in MARK.finditer(text, start, end):
        line = text[max(start, text.rfind("\n", start, match.start()) + 1) : match.start()]
        is_behind = SENTENCE_END.search(line) is not None
        begins_line, ends_line = (
            not any(map(str.isalnum, line)),
            LINE_END.match(text, match.end()) is not None,
        )
        is_alone = begins_line and ends_line and "|" not in line
        if match[0] == Mark.VALUE.text and match.end() <= quote[0] and LABEL_END.match(text, match.end()):
            start = match.end() + 1
        if match[0] not in PICTURES and not is_alone:
            continue
        if match.end() <= quote[0]:
            if is_alone or ((is_behind or begins_line or ends_line) and _begins(text, match.end())):
                start = match.end()
        elif match.start() >= quote[1] and (
            is_behind
            or (begins_line and _begins(text, match.end()))
            or (is_alone and not _is_within_words(text, match.span(), passage))
        ):
            end = match.start()
            break
    if (start, end) == passage:
        return passage
    # The bar behind a cell that is nothing but a picture goes with it.
    words = text[start:end]
    return start + len(words) - len(words.lstrip(" \t\n|")), end - len(words) + len(words.rstrip(" \t\n|"))


def _begins(text: str, at: int) -> bool:
    """Whether a sentence may begin here: with a capital, a letter of a script without them, or a sign before one."""
    words = MARK.sub("", text[at : at + LOOK_CHARS])
    letter = next(filter(str.isalnum, words), "")
    return letter.isalpha() and not letter.islower()


def _is_within_words(text: str, mark: Span, passage: Span) -> bool:
    """Whether a mark on a line of its own has words of the passage on both sides of it, in the same paragraph."""
    before = text[passage[0] : mark[0]].rpartition("\n\n")[2].rstrip(" ")
    behind = text[mark[1] : passage[1]].partition("\n\n")[0].lstrip(" ")
    is_of_table = before.endswith("|") or behind.startswith("|")
    return not is_of_table and bool(before.strip()) and bool(behind.strip())
