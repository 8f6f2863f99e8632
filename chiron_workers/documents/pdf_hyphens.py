"""Words of a PDF that are hyphenated at the end of a line."""

import re

# What PDFium marks such a hyphen with, the word before it and what follows.
LINE_HYPHEN = re.compile(r"([^\W_]{0,40})\ufffe\s*(?=([^\W_]{0,40}))")
SOFT_HYPHEN = re.compile("\xad\n?(?!\\d)")
SIGN_BEFORE_DIGIT = re.compile("\xad(?=\\d)")  # fonts have the soft hyphen's code for hyphens and minus signs
ADDRESS = re.compile(r"(?:https?://|www\.)\S*\Z")
# A hyphen between digits, which is no mark of a word that goes on.
RANGE = re.compile(r"(?<=\d)([-‐‑–])\n(?=\d)")
NEIGHBOUR_CHARS = 30
ADDRESS_CHARS = 200
COMPARED_CHARS_MAX = 20_000  # of a page in which compounds are looked for


def without_line_hyphens(text: str) -> str:
    """A text without the hyphens that only divide a word at the end of a line.

    One before a digit or a capital stays (COVID-19, post-Soviet), and so does one behind a single letter (X-ray), in an address,
    and one that the text has in the midst of a line (well-known).
    """
    if "\ufffe" in text:
        text = LINE_HYPHEN.sub(lambda match: match[1] + _hyphen(match), text)
    return RANGE.sub(r"\1", SIGN_BEFORE_DIGIT.sub("-", SOFT_HYPHEN.sub("", text)))


def _hyphen(match: re.Match[str]) -> str:
    before, after, text = match[1], match[2], match.string
    if not after or after[0].isdigit() or len(before) <= 1:
        return "-"
    if ADDRESS.search(text[max(0, match.start() - ADDRESS_CHARS) : match.start() + len(before)]):
        return "-"
    if after[0].isupper():
        # In a text of capitals a hyphen divides words; behind an abbreviation it joins them: HIV-RNA.
        words = text[max(0, match.start() - NEIGHBOUR_CHARS) : match.start()].split()
        return "" if before.isupper() and after.isupper() and words and words[-1].isupper() else "-"
    if len(text) > COMPARED_CHARS_MAX:
        return ""
    is_compound = re.search(rf"\b{before}-{after}\b", text) and not re.search(rf"\b{before}{after}\b", text)
    return "-" if is_compound else ""
