"""A text in one spelling: what only the typesetter chose is evened out, what changes the meaning is not.

Evened out are white space, what cannot be seen, quotation marks, dashes, ligatures, letters and digits of full width,
composed against decomposed letters, and what `typesetting` lists. Raised digits stay raised; fractions and the case of
letters stay as they are. Whole texts are worked through as arrays of code points: a page of a million characters takes
some hundredths of a second.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chiron_workers.evidence.quotes.equivalents import (
    LINE_BREAK,
    PAUSE,
    combining_marks,
    equivalents,
    expansions,
)
from chiron_workers.evidence.quotes.offsets import (
    CodePoints,
    NormalisedText,
    code_points,
    followed_by,
    preceded_by,
    ranges,
    where,
)
from chiron_workers.evidence.quotes.typesetting import even_typesetting, mark_wraps, wraps

if TYPE_CHECKING:
    from chiron_workers.evidence.quotes.offsets import Offsets

MARKS_MAX = 30  # on one letter, as in Unicode's Stream-Safe Text Format: to sort more takes quadratic time
UNSEEN_CODE = ord("\u200b")
SPACE, HYPHEN, DOT, APOSTROPHE, QUOTATION = map(ord, " -.'\"")
# Signs that are evened out nowhere, or not unless two of them meet.
PLAIN = re.compile(r"[A-Za-z0-9 ,;:.!?()/']*")
PLAIN_CHARS_MAX = 1_000
# Readers put it before each paragraph of a block quote. Before a figure it may be a sign.
QUOTATION_MARK = re.compile(r"^(?:> )+(?=[^\W\d_]|[\"'“„«‘])", re.MULTILINE)
DOUBLE_SIGNS = ("  ", "''", ". .")


def normalise(text: str) -> NormalisedText:
    """The text in one spelling, with a way back to its own offsets. Takes time in proportion to its length."""
    if _is_plain(text):
        row = code_points(text)
        return NormalisedText(text, row.begins, row.ends)
    if "> " in text:
        text = QUOTATION_MARK.sub(lambda mark: " " * len(mark[0]), text)
    row = code_points(text)
    wrap_offsets = wraps(text)
    if not text.isascii():
        _write_out(row)
        _compose(row)
    row.codes = equivalents()[row.codes]
    row.keep(row.codes != 0)
    _join_spaces(row)
    _join_broken_words(row)
    _join_spaces(row)
    _even_dashes(row)
    _even_pairs(row)
    even_typesetting(row)
    mark_wraps(row, wrap_offsets)
    return row.folded()


def _is_plain(text: str) -> bool:
    """Whether a short text is in that spelling, as most sentences are."""
    is_short = len(text) <= PLAIN_CHARS_MAX
    return is_short and bool(PLAIN.fullmatch(text)) and not any(signs in text for signs in DOUBLE_SIGNS)


def _write_out(row: CodePoints) -> None:
    import numpy as np

    spelt, is_one = expansions()
    places = np.flatnonzero(is_one[row.codes])
    if not len(places):
        return
    codes_once, inverse = np.unique(row.codes[places], return_inverse=True)
    spellings = [spelt[chr(code)] for code in codes_once.tolist()]
    sizes = np.array(list(map(len, spellings)))
    widths = np.ones(len(row.codes), np.intp)
    widths[places] = sizes[inverse]
    firsts = (np.cumsum(widths) - widths)[places]
    row.codes = np.repeat(row.codes, widths)
    row.begins, row.ends = np.repeat(row.begins, widths), np.repeat(row.ends, widths)
    steps = ranges(widths[places])
    letters = np.repeat((np.cumsum(sizes) - sizes)[inverse], widths[places]) + steps
    row.codes[np.repeat(firsts, widths[places]) + steps] = code_points("".join(spellings)).codes[letters]


def _compose(row: CodePoints) -> None:
    import numpy as np

    is_mark = combining_marks()[row.codes]
    if not is_mark.any():
        return
    starts = np.flatnonzero(is_mark & ~preceded_by(is_mark))
    stops = np.flatnonzero(is_mark & ~followed_by(is_mark)) + 1
    firsts, lasts = np.maximum(starts - 1, 0), np.minimum(stops, starts + MARKS_MAX)
    text = row.folded().text
    normal_forms = {piece: unicodedata.normalize("NFC", piece) for piece in _pieces(text, firsts, lasts)}
    new_pieces = [normal_forms[piece] for piece in _pieces(text, firsts, lasts)]
    sizes = np.array(list(map(len, new_pieces)))
    row.ends[firsts + sizes - 1] = row.ends[lasts - 1]
    spare = lasts - firsts - sizes
    row.codes = row.codes.copy()
    row.codes[np.repeat(firsts + sizes, spare) + ranges(spare)] = UNSEEN_CODE
    row.codes[np.repeat(firsts, sizes) + ranges(sizes)] = code_points("".join(new_pieces)).codes


def _pieces(text: str, firsts: "Offsets", lasts: "Offsets") -> Iterator[str]:
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        yield text[first:last]


def _join_spaces(row: CodePoints) -> None:
    is_space = row.codes == SPACE
    row.keep(~(is_space & preceded_by(is_space)))


def _join_broken_words(row: CodePoints) -> None:
    """Join what a hyphen and white space part; a soft hyphen elsewhere is nothing."""
    import numpy as np

    is_soft = row.codes == ord(LINE_BREAK)
    at = np.flatnonzero((is_soft | (row.codes == HYPHEN)) & followed_by(row.codes == SPACE))
    at = at[(at > 0) & (at + 2 < len(row.codes))]
    previous, following_code = row.codes[at - 1], row.codes[at + 2]
    is_inner = where(previous, str.isalnum) & where(following_code, str.isalnum)
    is_either = is_inner & where(previous, str.isalpha) & where(following_code, str.islower)
    is_wanted = ~is_soft
    is_wanted[at[is_either]] = True
    is_wanted[at[is_either | (is_inner & ~is_soft[at])] + 1] = False
    row.codes[at[is_either]] = ord(LINE_BREAK)
    row.keep(is_wanted)


def _even_dashes(row: CodePoints) -> None:
    import numpy as np

    is_hyphen = row.codes == HYPHEN
    at = np.flatnonzero(is_hyphen & ~preceded_by(is_hyphen))
    # The last one stands before the first.
    padded_codes = np.concatenate([row.codes, np.full(5, SPACE, np.uint32)])
    is_long = padded_codes[at + 1] == HYPHEN
    is_longer = is_long & (padded_codes[at + 2] == HYPHEN)
    previous, next_code = padded_codes[at - 1], padded_codes[at + 1 + is_long + is_longer]
    is_pause = (previous == SPACE) & (next_code == SPACE)
    is_pause |= is_long & where(previous, str.isalpha) & where(next_code, str.isalpha)
    is_wanted = np.ones(len(row.codes), bool)
    is_wanted[at[is_pause & is_long] + 1] = False
    is_wanted[at[is_pause & is_longer] + 2] = False
    row.codes[at[is_pause]] = ord(PAUSE)
    at = np.flatnonzero(row.codes == ord(PAUSE))
    is_sign = (padded_codes[at - 1] == SPACE) & where(padded_codes[at + 1], str.isnumeric)
    row.codes[at[is_sign]] = HYPHEN
    row.keep(is_wanted)
    is_pause = row.codes == ord(PAUSE)
    is_beside = (row.codes == SPACE) & (preceded_by(is_pause) | followed_by(is_pause))
    row.keep(~(is_beside | (is_pause & preceded_by(is_pause))))


def _even_pairs(row: CodePoints) -> None:
    """Read two apostrophes as a quotation mark, and dots that stand apart as an ellipsis."""
    is_one = row.codes == APOSTROPHE
    is_next = followed_by(is_one)
    is_pair = is_one & is_next & ~preceded_by(is_one) & ~followed_by(is_next)
    is_dot = row.codes == DOT
    row.codes[is_pair] = QUOTATION
    row.keep(~(preceded_by(is_pair) | ((row.codes == SPACE) & preceded_by(is_dot) & followed_by(is_dot))))
