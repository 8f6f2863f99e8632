"""Where the sentences around a passage begin and end."""

import re

from chiron_workers.evidence.text_cache import cache_short_texts

SENTENCE_CHARS = 1_000  # looked through for a stop, before and after a passage
TEXT_CHARS_MAX = 1_000  # of one whose breaks are kept
LINES_CHARS = 300  # taken on each side of what has no stops, such as a table
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
# After these a sentence goes on, whatever the next word looks like: too long a quote shows no less.
GOES_ON = re.compile(
    r"(?:(?:^|[\s(\[])(?:\d{1,2}|[^\W\d_]|e\.g|i\.e|z\.\s?B|u\.\s?a|d\.\s?h|vs|cf|ca|approx|resp|bzw|vgl|Nr|No|Fig|Figs"
    r"|Abb|Tab|Eq|Sec|Ch|Vol|pp|al|Dr|Mr|Mrs|Ms|Prof|St|Mme|Mlle|Inc|Ltd|Jr|Sr)|\b[A-Z]\.[A-Z])\.[\"')\]]*\s+$"
)


def whole_sentences(text: str, start: int, end: int, *, chars_max: int) -> tuple[int, int]:
    """The offsets of the whole sentences of `text` that hold `text[start:end]`.

    A blank line always ends a sentence. Where there is no stop within 1,000 characters, the passage grows by the lines
    (or else the words) of 300; and never beyond `chars_max` in all, unless it is longer itself.
    """
    low, high = max(0, start - SENTENCE_CHARS), min(len(text), end + SENTENCE_CHARS)
    blanks = [blank.end() for blank in BLANK_LINE.finditer(text, low, start)]
    blank = BLANK_LINE.search(text, end, high)
    low, is_open = (blanks[-1], False) if blanks else (low, low > 0)
    high, is_open_end = (blank.start(), False) if blank else (high, high < len(text))
    breaks = [low + at for at in sentence_breaks(text[low:high])]
    begin = max((at for at in breaks if at <= start and not (is_open and at == low)), default=-1)
    finish = min((at for at in breaks if at >= end and not (is_open_end and at == high)), default=-1)
    room = max(0, chars_max - (end - start)) // 2
    if begin < start - room:
        begin = _first_line(text, max(low, start - min(room, LINES_CHARS)), start)
    if not end <= finish <= end + room:
        finish = _last_line(text, end, min(high, end + min(room, LINES_CHARS)))
    return _trimmed(text, begin, finish, start, end)


def _first_line(text: str, low: int, start: int) -> int:
    """Where the first line, or else the first word, of what stands before a passage begins."""
    if low == 0 or text[low - 1] == "\n":
        return low
    at = text.find("\n", low, start)
    return 1 + (at if at >= 0 else text.find(" ", low, start)) or start


def _last_line(text: str, end: int, high: int) -> int:
    if high == len(text) or text[high] == "\n":
        return high
    at = text.rfind("\n", end, high)
    at = at if at >= 0 else text.rfind(" ", end, high)
    return at if at >= 0 else end


@cache_short_texts(texts_max=256, chars_max=TEXT_CHARS_MAX)  # a statement's are asked for three times
def sentence_breaks(text: str) -> tuple[int, ...]:
    """Where the sentences of a text begin, in order, and its end."""
    import sentencex

    starts = [sentence["start_index"] for sentence in sentencex.get_sentence_boundaries("en", text)]
    breaks = [*starts, len(text)]
    return tuple(at for at in breaks if at in (0, len(text)) or not GOES_ON.search(text, max(0, at - 40), at))


def _trimmed(text: str, begin: int, finish: int, start: int, end: int) -> tuple[int, int]:
    while begin < start and text[begin].isspace():
        begin += 1
    while finish > end and text[finish - 1].isspace():
        finish -= 1
    return begin, finish
