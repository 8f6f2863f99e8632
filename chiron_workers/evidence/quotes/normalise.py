"""A text in one spelling: what only the typesetter chose is evened out, what changes the meaning is not.

Evened out are white space, what cannot be seen, quotation marks, dashes, ligatures, full-width letters, and composed
against decomposed letters. Digits, superscripts, fractions and the case of letters stay as they are. Whole texts are
worked through as arrays of code points: a page of a million characters takes some hundredths of a second.
"""

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chiron_workers.evidence.quotes.equivalents import BROKEN, PAUSE, alike, marks, written_out
from chiron_workers.evidence.quotes.offsets import Folded, Row, after, are, before, counted, row_of

if TYPE_CHECKING:
    from chiron_workers.evidence.quotes.offsets import Offsets

MARKS_MAX = 30  # on one letter, as in Unicode's Stream-Safe Text Format: to sort more takes quadratic time
NOTHING = ord("\u200b")
SPACE, HYPHEN, DOT, APOSTROPHE, QUOTATION = map(ord, " -.'\"")


def fold(text: str) -> Folded:
    """The text in one spelling, with a way back to its own offsets. Takes time in proportion to its length."""
    row = row_of(text)
    if not text.isascii():
        _write_out(row)
        _compose(row)
    row.codes = alike()[row.codes]
    row.keep(row.codes != 0)
    _join_spaces(row)
    _mend_line_ends(row)
    _join_spaces(row)
    _even_dashes(row)
    _even_pairs(row)
    return row.folded()


def unbroken(text: str) -> Folded:
    """A folded text without the hyphens between letters, whether they are the words' own or a line end's."""
    import numpy as np

    row = row_of(text)
    kept = np.ones(len(text), bool)
    kept[_joints(row)] = False
    row.keep(kept)
    return row.folded()


def joints(text: str) -> dict[int, str]:
    """Which hyphens `unbroken` takes out of a folded text, by the offset at which they are missed."""
    return {at - missed: text[at] for missed, at in enumerate(_joints(row_of(text)).tolist())}


def _joints(row: Row) -> "Offsets":
    import numpy as np

    at = np.flatnonzero((row.codes == HYPHEN) | (row.codes == ord(BROKEN)))
    at = at[(at > 0) & (at + 1 < len(row.codes))]
    return at[are(row.codes[at - 1], str.isalpha) & are(row.codes[at + 1], str.isalpha)]


def _write_out(row: Row) -> None:
    import numpy as np

    spelt, is_one = written_out()
    places = np.flatnonzero(is_one[row.codes])
    if not len(places):
        return
    widths = np.ones(len(row.codes), np.intp)
    written = [spelt[chr(code)] for code in row.codes[places].tolist()]
    widths[places] = list(map(len, written))
    firsts = (np.cumsum(widths) - widths)[places]
    row.codes = np.repeat(row.codes, widths)
    row.begins, row.ends = np.repeat(row.begins, widths), np.repeat(row.ends, widths)
    at = np.repeat(firsts, widths[places]) + counted(widths[places])
    row.codes[at] = [ord(letter) for letters in written for letter in letters]


def _compose(row: Row) -> None:
    import numpy as np

    is_mark = marks()[row.codes]
    if not is_mark.any():
        return
    starts = np.flatnonzero(is_mark & ~before(is_mark))
    stops = np.flatnonzero(is_mark & ~after(is_mark)) + 1
    firsts, lasts = np.maximum(starts - 1, 0), np.minimum(stops, starts + MARKS_MAX)
    text = row.folded().text
    composed = {piece: unicodedata.normalize("NFC", piece) for piece in _pieces(text, firsts, lasts)}
    written = [composed[piece] for piece in _pieces(text, firsts, lasts)]
    sizes = np.array(list(map(len, written)))
    row.ends[firsts + sizes - 1] = row.ends[lasts - 1]
    spare = lasts - firsts - sizes
    row.codes = row.codes.copy()
    row.codes[np.repeat(firsts + sizes, spare) + counted(spare)] = NOTHING
    row.codes[np.repeat(firsts, sizes) + counted(sizes)] = row_of("".join(written)).codes


def _pieces(text: str, firsts: "Offsets", lasts: "Offsets") -> Iterator[str]:
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        yield text[first:last]


def _join_spaces(row: Row) -> None:
    is_space = row.codes == SPACE
    row.keep(~(is_space & before(is_space)))


def _mend_line_ends(row: Row) -> None:
    """Join what a hyphen and white space part; a soft hyphen elsewhere is nothing."""
    import numpy as np

    is_soft = row.codes == ord(BROKEN)
    at = np.flatnonzero((is_soft | (row.codes == HYPHEN)) & after(row.codes == SPACE))
    at = at[(at > 0) & (at + 2 < len(row.codes))]
    left, right = row.codes[at - 1], row.codes[at + 2]
    is_inner = are(left, str.isalnum) & are(right, str.isalnum)
    is_either = is_inner & are(left, str.isalpha) & are(right, str.islower)
    kept = ~is_soft
    kept[at[is_either]] = True
    kept[at[is_either | (is_inner & ~is_soft[at])] + 1] = False
    row.codes[at[is_either]] = ord(BROKEN)
    row.keep(kept)


def _even_dashes(row: Row) -> None:
    import numpy as np

    is_hyphen = row.codes == HYPHEN
    at = np.flatnonzero(is_hyphen & ~before(is_hyphen))
    padded = np.concatenate([row.codes, np.full(5, SPACE, np.uint32)])  # the last one stands before the first
    is_long = padded[at + 1] == HYPHEN
    is_longer = is_long & (padded[at + 2] == HYPHEN)
    left, right = padded[at - 1], padded[at + 1 + is_long + is_longer]
    is_pause = (left == SPACE) & (right == SPACE)
    is_pause |= is_long & are(left, str.isalpha) & are(right, str.isalpha)
    kept = np.ones(len(row.codes), bool)
    kept[at[is_pause & is_long] + 1] = False
    kept[at[is_pause & is_longer] + 2] = False
    row.codes[at[is_pause]] = ord(PAUSE)
    at = np.flatnonzero(row.codes == ord(PAUSE))
    is_sign = (padded[at - 1] == SPACE) & are(padded[at + 1], str.isnumeric)
    row.codes[at[is_sign]] = HYPHEN
    row.keep(kept)
    is_pause = row.codes == ord(PAUSE)
    row.keep(~((is_pause & before(is_pause)) | ((row.codes == SPACE) & (before(is_pause) | after(is_pause)))))


def _even_pairs(row: Row) -> None:
    """Read two apostrophes as a quotation mark, and dots that stand apart as an ellipsis."""
    is_one = row.codes == APOSTROPHE
    is_next = after(is_one)
    is_pair = is_one & is_next & ~before(is_one) & ~after(is_next)
    is_dot = row.codes == DOT
    row.codes[is_pair] = QUOTATION
    row.keep(~(before(is_pair) | ((row.codes == SPACE) & before(is_dot) & after(is_dot))))
