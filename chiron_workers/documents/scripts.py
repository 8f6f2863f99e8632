"""Raised, lowered and other set words as plain text, so that 10⁵ never reads as 105, nor 3 with note 7 as 37."""

import re

SUPERSCRIPTS = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
SUBSCRIPTS = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
SUMS = re.compile(r"[\d+\-−=()]+", re.ASCII)
WORD = re.compile(r"[-+−]?\w+(?:\.\w+)?")
# Raised for looks alone: ordinals behind a number, abbreviations, marks.
ORDINAL = re.compile(r"st|nd|rd|th|er|re|e|ère|ème|eme|es|nde|de|te|o|a|os|as|º|ª|\.", re.IGNORECASE)
ABBREVIATION = re.compile(r"(?:M|Mm|Ml|D|S|J|N|n)$")
ABBREVIATION_END = re.compile(r"mes?|lles?|r|rs|re|o|os|t|te|ie", re.IGNORECASE)
MARK = re.compile(r"[*†‡§¶®©™℠#]+|TM|SM|\(?[RC]\)", re.IGNORECASE)
BRACKETS = re.compile(r"\[.*\]", re.DOTALL)
LETTER_RUN = re.compile(r"[^\W\d_]+$")
IMAGE_CHARS_MAX = 1_000
QUOTATION_MARK = "> "  # before each paragraph of a block quote, as in Markdown
QUOTATION_MARKS_MAX = 3  # of block quotes in one another
RAISED_CHARS_MAX = 40  # more are set so for looks, and stay as they are


def raise_words(words: str, *, before: str = "") -> str:
    """Write superscript words: digits with Unicode's raised ones, others behind a caret; `before` is what precedes them.

    Ordinals (1st), abbreviations (Mme) and trade marks are raised for looks and stay as they are.
    """
    words = words.strip()
    if not words or len(words) > RAISED_CHARS_MAX or BRACKETS.fullmatch(words) or MARK.fullmatch(words):
        return words
    if before[-1:].isdigit() and ORDINAL.fullmatch(words):
        return words
    if (
        (run := LETTER_RUN.search(before))
        and ABBREVIATION.fullmatch(run[0])
        and ABBREVIATION_END.fullmatch(words)
    ):
        return words
    if (SUMS.fullmatch(words) and any(map(str.isdigit, words))) or words in ("+", "-", "−"):
        return words.translate(SUPERSCRIPTS)
    return "^" + _grouped(words)


def lower_words(words: str) -> str:
    """Write subscript words: digits with Unicode's lowered ones, others behind a low line."""
    words = words.strip()
    if not words or len(words) > RAISED_CHARS_MAX:
        return words
    if SUMS.fullmatch(words) and any(map(str.isdigit, words)):
        return words.translate(SUBSCRIPTS)
    return "_" + _grouped(words)


def note_mark(words: str) -> str:
    """The mark of a note, in brackets, so that it joins no number before it."""
    words = words.strip().strip("[]()").strip()
    return f"[{words}]" if words else ""


def image_text(alt: str) -> str:
    """What stands in place of an image: its text in brackets; a sign alone, such as an emoji, as it is."""
    words = " ".join(alt.split())[:IMAGE_CHARS_MAX]
    return f"[Image: {words}]" if re.search(r"[^\W\d_]", words) else words


def quotation_marks(depth: int) -> str:
    """What stands before a paragraph within so many block quotes."""
    return QUOTATION_MARK * min(depth, QUOTATION_MARKS_MAX)


def list_mark(number: int, kind: str = "1") -> str:
    """The mark of a list's item: `3.`, or by its kind `c.`, `C.`, `iii.`, `III.`."""
    marks = {"a": _letters, "i": _roman}
    words = marks[kind.lower()](number) if kind.lower() in marks else ""
    return f"{(words.upper() if kind.isupper() else words) or number}."


def _grouped(words: str) -> str:
    is_whole = WORD.fullmatch(words) or (words[0] == "(" and words[-1] == ")" and "(" not in words[1:])
    return words if is_whole else f"({words})"


def _letters(number: int) -> str:
    letters = ""
    while number > 0 and len(letters) < 7:
        number, place = divmod(number - 1, 26)
        letters = chr(ord("a") + place) + letters
    return letters


def _roman(number: int) -> str:
    if not 0 < number < 4_000:
        return ""
    words = ""
    for value, letters in (
        (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
        (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    ):  # fmt: skip
        count, number = divmod(number, value)
        words += letters * count
    return words
