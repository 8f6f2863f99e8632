"""Spellings between which only the typesetter chooses: 20 % and 20%, p < 0.05 and p<0.05, 10^5 and 10⁵, CO₂ and CO2.

A raised digit never becomes a plain one, and a lowered one only in a formula or behind a variable, where it can be no part
of a number.
"""

import re
from typing import TYPE_CHECKING

from chiron_workers.evidence.quotes.equivalents import LINE_BREAK
from chiron_workers.evidence.quotes.offsets import CodePoints, code_points, where

if TYPE_CHECKING:
    from chiron_workers.evidence.quotes.offsets import Offsets

SPACE = ord(" ")
RELATIONS = "<>=≤≥≈±×"
PERCENTS = "%‰‱°"
SUPERSCRIPTS = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
SCRIPT_LETTERS = "^_₀₁₂₃₄₅₆₇₈₉"
# LaTeX's and plain text's spellings of a raised integer.
POWER = re.compile(
    r"(?<=[\w)\]])\^(?:(?P<plain>[-+]?[0-9]{1,6})(?![\w^]|[.,][0-9])"
    r"|\{(?P<braced>[-+]?[0-9]{1,6}[-+]?)\}|\((?P<bracketed>[-+]?[0-9]{1,6})\))"
)
LOWERED_DIGITS = re.compile(r"(?<=[^\W\d_²³¹⁰-⁹])[₀-₉]+(?![0-9²³¹⁰-⁹])|(?<=[)\]])[₀-₉]+(?![0-9²³¹⁰-⁹])")
LOW_LINE = re.compile(r"_(?:(?P<plain>[0-9]{1,3}(?:\.[0-9])?)|\{(?P<braced>[0-9]{1,3})\})(?![0-9_{])")
SYMBOLS = (
    "He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Nb|Mo|Tc|Ru|Rh|Pd|Ag|Cd|In"
    "|Sn|Sb|Te|Xe|Cs|Ba|La|Ce|Pr|Nd|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb|Lu|Hf|Ta|Re|Os|Ir|Pt|Au|Hg|Tl|Pb|Bi|Po|At|Rn|Fr|Ra|Ac|Th"
    "|Pa|Np|Pu|Am|H|B|C|N|O|F|P|S|K|V|Y|I|W|U"
)
FORMULA = re.compile(rf"(?:[(\[]*(?:{SYMBOLS})[)\]]*(?:_?\{{?[0-9₀-₉]{{1,3}}\}}?)?[)\]]*)+")
VARIABLE = re.compile(r"[A-Za-zΑ-ω]|PM")
BEFORE = re.compile(r"[A-Za-z0-9₀-₉_(){}\[\]Α-ω]{1,40}$")
NAME_LETTER = re.compile(r"[A-Za-zΑ-ω]")
# Scripts without spaces between words, with their punctuation.
SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3001-\u9fff\uf900-\ufaff\uff01-\uff65\U00020000-\U0003ffff"
WRAP = re.compile(rf"(?<=[{SPACELESS}])[^\S\n]*\n[^\S\n]*(?=[{SPACELESS}])")


def even_typesetting(row: CodePoints) -> None:
    """Give a text one spelling of raised and lowered digits, and no gaps before per cent signs and around relations."""
    text = row.folded().text
    if any(letter in text for letter in SCRIPT_LETTERS):
        _even_scripts(row, text)
    _close_gaps(row)


def wraps(text: str) -> "Offsets":
    """Where in a text a line was wrapped within words of a script without spaces."""
    import numpy as np

    places = [] if text.isascii() else [match.start() for match in WRAP.finditer(text)]
    return np.array(places, np.intp)


def mark_wraps(row: CodePoints, wraps: "Offsets") -> None:
    """Mark the spaces of a folded text that stand for wraps as line breaks, which a quote need not have."""
    import numpy as np

    if len(wraps):
        row.codes = row.codes.copy()
        row.codes[(row.codes == SPACE) & np.isin(row.begins, wraps)] = ord(LINE_BREAK)


def _even_scripts(row: CodePoints, text: str) -> None:
    import numpy as np

    codes, is_wanted = row.codes.copy(), np.ones(len(text), bool)
    for match in POWER.finditer(text):
        group = match.lastgroup or ""
        is_wanted[match.start() : match.end()] = False
        is_wanted[match.start(group) : match.end(group)] = True
        codes[match.start(group) : match.end(group)] = code_points(match[group].translate(SUPERSCRIPTS)).codes
    for match in LOWERED_DIGITS.finditer(text):
        if _is_lowered(text, match):
            codes[match.start() : match.end()] = code_points(match[0].translate(SUBSCRIPTS)).codes
    for match in LOW_LINE.finditer(text):
        if _is_lowered(text, match):
            group = match.lastgroup or ""
            is_wanted[match.start() : match.end()] = False
            is_wanted[match.start(group) : match.end(group)] = True
    row.codes = codes
    row.keep(is_wanted)


def _is_lowered(text: str, match: re.Match[str]) -> bool:
    """Whether a digit is lowered in a formula or behind a variable, as in CO_2 or x_1, and not in a name such as file_2."""
    before = BEFORE.search(text, max(0, match.start() - 40), match.start())
    if before is None:
        return False
    if FORMULA.fullmatch(before[0]):
        return True
    return bool(VARIABLE.fullmatch(before[0])) and not NAME_LETTER.match(text, match.end())


def _close_gaps(row: CodePoints) -> None:
    import numpy as np

    codes = row.codes
    is_wanted = np.ones(len(codes), bool)
    at = np.flatnonzero(np.isin(codes, list(map(ord, PERCENTS))))
    at = at[at > 1]
    at = at[codes[at - 1] == SPACE]
    is_wanted[at[where(codes[at - 2], str.isnumeric)] - 1] = False
    at = np.flatnonzero(np.isin(codes, list(map(ord, RELATIONS))))
    for neighbours in (at[at > 0] - 1, at[at + 1 < len(codes)] + 1):
        is_wanted[neighbours[codes[neighbours] == SPACE]] = False
    row.keep(is_wanted)
