"""What stands around a quote and may change what it says: its heading, its lead-in, and a short word of denial behind it."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from chiron_workers.evidence.quotes.leading_marks import begins_item
from chiron_workers.evidence.quotes.sentences import BLANK_LINE, sentence_breaks
from chiron_workers.evidence.text_cache import cache_short_texts

BEFORE_CHARS = 2_000  # looked through before a quote
AFTER_CHARS = 200
BLOCKS_MAX = 12  # looked through: a list's head stands above all of its items
HEADING_CHARS_MAX = 120
ITEM_CHARS_MAX = 200
SENTENCE_CHARS_MAX = 300  # that a lead-in keeps
DENIAL_CHARS_MAX = 60  # of a sentence behind a quote that takes it back
TABLE_CHARS = 20_000  # looked through for a table's first row
MARK_CHARS = 20  # of a list's item
SEPARATOR = " … "
CELL_BAR = " | "
YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
RUNNING_CHARS_MAX = 40
RUNNING = re.compile(
    r"[\W\d_]*(?:(?:pages?|seiten?|páginas?|pagina|стр\w*|pp?|s)\b[\W_]*\d[\d\W_]*(?:(?:of|von|de|di|sur|из)[\W_]*\d+)?"
    r"|第\s*\d+\s*[页頁]|(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3}))[\W\d_]*",
    re.IGNORECASE,
)
STOPS = tuple(".!?…。！？।")
LEADS = (":", "：")
TURNS = re.compile(
    r"\b(?:false|wrong|incorrect|untrue|not (?:true|correct|so)|nonsense|myths?|misconceptions?|fallac(?:y|ies)|debunked"
    r"|falsch|unwahr|irrtum|irrtümer|mythos|mythen|faux|fausses?|erroné\w*|mythes?|idées reçues|fals[oa]s?|incorrect[oa]s?"
    r"|mitos?|erróne[oa]s?)\b|неверн|ложн|неправд|миф|错误|謬|谬|误解|誤解|不实|嘘|間違",
    re.IGNORECASE,
)


def context_of(text: str, start: int, end: int) -> str:
    """The heading and the lead-in of `text[start:end]`, a passage in whole sentences; empty where it has none.

    The lead-in is the sentence before it in its paragraph; or, for the first sentence of one and for an item of a list,
    the head of its list or a line that says that what follows is wrong. For a table's row it is the caption and the row
    with the names of the columns. A short sentence behind it that takes it back ("Wrong!") is added. Pieces are joined
    by an ellipsis, in the order of the text.
    """
    pieces = _of_row(text, start) or _of_sentence(text, start)
    return SEPARATOR.join(filter(None, [*pieces, _denial_behind(text[end : end + AFTER_CHARS])]))


# The lines of a page stand around several quotes.
@cache_short_texts(texts_max=1_024, chars_max=SENTENCE_CHARS_MAX)
def may_turn(context: str) -> bool:
    """Whether a context has words by which a source may report a statement as wrong."""
    return bool(TURNS.search(context))


def _of_sentence(text: str, start: int) -> list[str]:
    paragraphs = BLANK_LINE.split(text[max(0, start - BEFORE_CHARS) : start])
    before = paragraphs.pop()
    is_item = begins_item(text[start : start + MARK_CHARS])
    if is_item and (not before or before.endswith("\n")):
        return _above([*paragraphs, *before.splitlines()], is_item=True)
    lead_in = _last_sentence(before)
    return [lead_in] if lead_in else _above(paragraphs, is_item=is_item)


def _of_row(text: str, start: int) -> list[str]:
    """What stands above a table, its first row, and the cells before; empty where `start` is in no row below another."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", start)
    if not _is_row(text[line_start : line_end if line_end >= 0 else len(text)]):
        return []
    low = max(0, line_start - TABLE_CHARS)
    lines = [line for line in text[low:line_start].splitlines() if line.strip()]
    row_count = next((n for n, line in enumerate(reversed(lines)) if not _is_row(line)), len(lines))
    if not row_count or (low and row_count == len(lines)):
        return []  # or the table begins further up
    header = _one_line(lines[-row_count])[:SENTENCE_CHARS_MAX]
    cells = text[line_start:start].replace(CELL_BAR, " ")
    return [*_above(lines[:-row_count], is_item=False), header, _last_sentence(cells)]


def _is_row(line: str) -> bool:
    """Whether a line is a table's row; readers part its cells by bars."""
    return CELL_BAR in line


def is_running(line: str) -> bool:
    """Whether a line is a page's mark or a number that only counts: no heading, but "2020" may be one."""
    return len(line) <= RUNNING_CHARS_MAX and not YEAR.fullmatch(line) and bool(RUNNING.fullmatch(line))


def _last_sentence(text: str) -> str:
    words = text.strip()
    if not words or _is_row(words.splitlines()[-1]):
        return ""
    breaks = [place for place in sentence_breaks(words) if place < len(words)] or [0]
    for begin, end in zip(reversed(breaks), [len(words), *reversed(breaks)], strict=False):
        sentence = _one_line(words[begin:end])
        if sentence and not is_running(sentence):
            return "" if _is_row(sentence) else sentence[-SENTENCE_CHARS_MAX:]
    return ""


def _above(paragraphs: list[str], *, is_item: bool) -> list[str]:
    """The heading right above a paragraph, and the head of the list that it is an item of."""
    heading = ""
    for distance, line in enumerate(islice(_lines_above(paragraphs), BLOCKS_MAX)):
        if _is_row(line):
            break  # of another table
        if line.endswith(LEADS) or (len(line) <= SENTENCE_CHARS_MAX and may_turn(line)):
            return [line[-SENTENCE_CHARS_MAX:], heading]
        if is_item and begins_item(line):
            continue
        if not heading and (distance == 0 or is_item) and _is_heading(line):
            heading = line
        elif len(line) > ITEM_CHARS_MAX:
            break
    return [heading]


def _lines_above(paragraphs: Sequence[str]) -> Iterator[str]:
    """What stands above, line by line, from the last one upwards."""
    return (line for line in map(_one_line, reversed(paragraphs)) if line and not is_running(line))


def _is_heading(line: str) -> bool:
    return len(line) <= HEADING_CHARS_MAX and not line.endswith(STOPS)


def _denial_behind(text: str) -> str:
    words = text.strip()
    first = next((place for place in sentence_breaks(words) if place > 0), 0) if words else 0
    sentence = _one_line(words[:first])
    return sentence if len(sentence) <= DENIAL_CHARS_MAX and may_turn(sentence) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
