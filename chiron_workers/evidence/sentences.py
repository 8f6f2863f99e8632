"""Where the sentences around a passage begin and end."""

import re

WINDOW_CHARS = 2_000  # looked at before and after a passage
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
# After these a sentence goes on, whatever the next word looks like: too long a quote shows no less.
GOES_ON = re.compile(
    r"(?:(?:^|[\s(\[])(?:\d{1,2}|[^\W\d_]|e\.g|i\.e|z\.\s?B|u\.\s?a|d\.\s?h|vs|cf|ca|approx|resp|bzw|vgl|Nr|No|Fig|Figs"
    r"|Abb|Tab|Eq|Sec|Ch|Vol|pp|al|Dr|Mr|Mrs|Ms|Prof|St|Mme|Mlle|Inc|Ltd|Jr|Sr)|\b[A-Z]\.[A-Z])\.[\"')\]]*\s+$"
)


def whole(text: str, start: int, end: int, *, chars_max: int) -> tuple[int, int]:
    """The offsets of the whole sentences of `text` that hold `text[start:end]`.

    A blank line always ends a sentence. What has no stops is cut: a passage grows by 2,000 characters at most in
    each direction and to `chars_max` in all, at a line end or else between two words.
    """
    room = max(0, chars_max - (end - start)) // 2
    reach = min(WINDOW_CHARS, room)
    left, right = _paragraph(text, start, end)
    first, last = max(left, start - WINDOW_CHARS), min(right, end + WINDOW_CHARS)
    breaks = _breaks(text[first:last])
    begin = max((at + first for at in breaks if at + first <= start), default=first)
    finish = min((at + first for at in breaks if at + first >= end), default=last)
    if begin < max(start - reach, left) or (begin == first > left):
        begin = _cut(text, max(start - reach, left), start, forward=True)
    if finish > min(end + reach, right) or (finish == last < right):
        finish = _cut(text, end, min(end + reach, right), forward=False)
    return _trimmed(text, begin, finish, start, end)


def _paragraph(text: str, start: int, end: int) -> tuple[int, int]:
    low = max(0, start - WINDOW_CHARS)
    before = list(BLANK_LINE.finditer(text, low, start))
    after = BLANK_LINE.search(text, end, end + WINDOW_CHARS)
    return (before[-1].end() if before else 0), (after.start() if after else len(text))


def _breaks(text: str) -> list[int]:
    import sentencex

    found = [part["start_index"] for part in sentencex.get_sentence_boundaries("en", text)] + [len(text)]
    return [at for at in found if at in (0, len(text)) or not GOES_ON.search(text, max(0, at - 40), at)]


def _cut(text: str, low: int, high: int, *, forward: bool) -> int:
    """A place between two offsets where a passage may begin (or end): a line end, else a space, else no growth."""
    for mark in ("\n", " "):
        at = text.find(mark, low, high) if forward else text.rfind(mark, low, high)
        if at >= 0:
            return at + 1 if forward else at
    return high if forward else low


def _trimmed(text: str, begin: int, finish: int, start: int, end: int) -> tuple[int, int]:
    while begin < start and text[begin].isspace():
        begin += 1
    while finish > end and text[finish - 1].isspace():
        finish -= 1
    return begin, finish
