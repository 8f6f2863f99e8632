"""A text in one spelling: what only the typesetter chose is evened out, what changes the meaning is not.

Evened out are white space, what cannot be seen, quotation marks, dashes, ligatures, full-width letters, and composed
against decomposed letters. Digits, superscripts, fractions and the case of letters stay as they are. Whole texts are
worked through as arrays of code points: a page of a million characters takes some hundredths of a second.
"""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiron_workers.evidence.spelling import BROKEN, PAUSE, alike, marks, written_out

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.uint32]
    Offsets = NDArray[np.intp]
    Mask = NDArray[np.bool_]

MARKS_MAX = 30  # on one letter, as in Unicode's Stream-Safe Text Format: to sort more takes quadratic time
NOTHING = ord("\u200b")
SPACE, HYPHEN, DOT, APOSTROPHE, QUOTATION = map(ord, " -.'\"")


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """A folded text that knows where each of its characters stood in the original one."""

    text: str
    begins: "Offsets"
    ends: "Offsets"

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the original of what stands here from `start` to `end`, which is not empty."""
        return int(self.begins[start]), int(self.ends[end - 1])


def fold(text: str) -> Folded:
    """The text in one spelling, with a way back to its own offsets. Takes time in proportion to its length."""
    row = _row(text)
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

    row = _row(text)
    kept = np.ones(len(text), bool)
    kept[_joints(row)] = False
    row.keep(kept)
    return row.folded()


def joints(text: str) -> dict[int, str]:
    """Which hyphens `unbroken` takes out of a folded text, by the offset at which they are missed."""
    return {at - missed: text[at] for missed, at in enumerate(_joints(_row(text)).tolist())}


@dataclass(slots=True, eq=False)
class _Row:
    codes: "Codes"
    begins: "Offsets"
    ends: "Offsets"

    def keep(self, kept: "Mask") -> None:
        if not kept.all():
            self.codes, self.begins, self.ends = self.codes[kept], self.begins[kept], self.ends[kept]

    def folded(self) -> Folded:
        text = self.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        return Folded(text, self.begins, self.ends)


def _row(text: str) -> _Row:
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    begins = np.arange(len(codes))
    return _Row(codes, begins, begins + 1)


def _joints(row: _Row) -> "Offsets":
    import numpy as np

    at = np.flatnonzero((row.codes == HYPHEN) | (row.codes == ord(BROKEN)))
    at = at[(at > 0) & (at + 1 < len(row.codes))]
    return at[_are(row.codes[at - 1], str.isalpha) & _are(row.codes[at + 1], str.isalpha)]


def _write_out(row: _Row) -> None:
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
    at = np.repeat(firsts, widths[places]) + _counted(widths[places])
    row.codes[at] = [ord(letter) for letters in written for letter in letters]


def _counted(widths: "Offsets") -> "Offsets":
    """0, 1, ... within each width: [2, 3] gives [0, 1, 0, 1, 2]."""
    import numpy as np

    return np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)


def _compose(row: _Row) -> None:
    import numpy as np

    is_mark = marks()[row.codes]
    if not is_mark.any():
        return
    starts = np.flatnonzero(is_mark & ~_before(is_mark))
    stops = np.flatnonzero(is_mark & ~_after(is_mark)) + 1
    firsts, lasts = np.maximum(starts - 1, 0), np.minimum(stops, starts + MARKS_MAX)
    text = row.folded().text
    composed = {piece: unicodedata.normalize("NFC", piece) for piece in _pieces(text, firsts, lasts)}
    written = [composed[piece] for piece in _pieces(text, firsts, lasts)]
    sizes = np.array(list(map(len, written)))
    row.ends[firsts + sizes - 1] = row.ends[lasts - 1]
    spare = lasts - firsts - sizes
    row.codes = row.codes.copy()
    row.codes[np.repeat(firsts + sizes, spare) + _counted(spare)] = NOTHING
    row.codes[np.repeat(firsts, sizes) + _counted(sizes)] = _row("".join(written)).codes


def _pieces(text: str, firsts: "Offsets", lasts: "Offsets") -> Iterator[str]:
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        yield text[first:last]


def _join_spaces(row: _Row) -> None:
    is_space = row.codes == SPACE
    row.keep(~(is_space & _before(is_space)))


def _mend_line_ends(row: _Row) -> None:
    """Join what a hyphen and white space part; a soft hyphen elsewhere is nothing."""
    import numpy as np

    is_soft = row.codes == ord(BROKEN)
    at = np.flatnonzero((is_soft | (row.codes == HYPHEN)) & _after(row.codes == SPACE))
    at = at[(at > 0) & (at + 2 < len(row.codes))]
    left, right = row.codes[at - 1], row.codes[at + 2]
    is_inner = _are(left, str.isalnum) & _are(right, str.isalnum)
    is_either = is_inner & _are(left, str.isalpha) & _are(right, str.islower)
    kept = ~is_soft
    kept[at[is_either]] = True
    kept[at[is_either | (is_inner & ~is_soft[at])] + 1] = False
    row.codes[at[is_either]] = ord(BROKEN)
    row.keep(kept)


def _even_dashes(row: _Row) -> None:
    import numpy as np

    is_hyphen = row.codes == HYPHEN
    at = np.flatnonzero(is_hyphen & ~_before(is_hyphen))
    padded = np.concatenate([row.codes, np.full(5, SPACE, np.uint32)])  # the last one stands before the first
    is_long = padded[at + 1] == HYPHEN
    is_longer = is_long & (padded[at + 2] == HYPHEN)
    left, right = padded[at - 1], padded[at + 1 + is_long + is_longer]
    is_pause = (left == SPACE) & (right == SPACE)
    is_pause |= is_long & _are(left, str.isalpha) & _are(right, str.isalpha)
    kept = np.ones(len(row.codes), bool)
    kept[at[is_pause & is_long] + 1] = False
    kept[at[is_pause & is_longer] + 2] = False
    row.codes[at[is_pause]] = ord(PAUSE)
    at = np.flatnonzero(row.codes == ord(PAUSE))
    is_sign = (padded[at - 1] == SPACE) & _are(padded[at + 1], str.isnumeric)
    row.codes[at[is_sign]] = HYPHEN
    row.keep(kept)
    is_pause = row.codes == ord(PAUSE)
    row.keep(
        ~((is_pause & _before(is_pause)) | ((row.codes == SPACE) & (_before(is_pause) | _after(is_pause))))
    )


def _even_pairs(row: _Row) -> None:
    """Read two apostrophes as a quotation mark, and dots that stand apart as an ellipsis."""
    is_one = row.codes == APOSTROPHE
    is_next = _after(is_one)
    is_pair = is_one & is_next & ~_before(is_one) & ~_after(is_next)
    is_dot = row.codes == DOT
    row.codes[is_pair] = QUOTATION
    row.keep(~(_before(is_pair) | ((row.codes == SPACE) & _before(is_dot) & _after(is_dot))))


def _before(mask: "Mask") -> "Mask":
    """For each place whether the one before it is marked."""
    import numpy as np

    return np.concatenate([[False], mask[:-1]]) if len(mask) else mask


def _after(mask: "Mask") -> "Mask":
    import numpy as np

    return np.concatenate([mask[1:], [False]]) if len(mask) else mask


def _are(codes: "Codes", test: Callable[[str], bool]) -> "Mask":
    import numpy as np

    kinds, which = np.unique(codes, return_inverse=True)
    return np.array([test(chr(code)) for code in kinds.tolist()], bool)[which]
