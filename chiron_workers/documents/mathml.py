"""Formulas in MathML as one line of text: 10⁵, x_i, (a + b)/2."""

import re
from typing import Any

from chiron_workers.documents.html_elements import STRUCK
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.scripts import lower_words, raise_words

SILENT_TAGS = {"annotation", "annotation-xml", "mphantom"}
INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
DEPTH_MAX = 100
BARLESS = re.compile(r"\s*0*(?:\.0*)?\s*(?:[a-z]{1,4}|%)?\s*", re.IGNORECASE)
# Their parts stand one behind the other. What is not here, and has no layout, has its parts between spaces.
ROWS = {
    "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mstyle", "merror", "mpadded", "semantics", "maction", "mtd",
    "mspace", "none", "maligngroup", "malignmark",
}  # fmt: skip
# Lines that a formula is written across, and those around it, which say nothing.
STRIKES = {"updiagonalstrike", "downdiagonalstrike", "horizontalstrike", "verticalstrike"}
FRAMES = {"box", "roundedbox", "circle", "updiagonalarrow"}
BLANKS = re.compile(r"\s+")
ACCENTS = str.maketrans(
    {"¯": "\u0304", "‾": "\u0304", "ˉ": "\u0304", "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303"}
    | {"→": "\u20d7", "˙": "\u0307", "¨": "\u0308"}
)


def formula_text(element: Any, omissions: Omissions) -> str:
    """A formula on one line; what is struck out in it and what cannot be written is added to `omissions`."""
    for enclosure in list(element.iter("menclose", "{*}menclose")):
        if STRIKES & set(_notation(enclosure)):
            omissions.add(STRUCK["del"])
            for child in list(enclosure):
                enclosure.remove(child)
            enclosure.text = None
    words = math_text(element)
    for _ in range(words.count(Mark.FORMULA.text)):
        omissions.mark(Mark.FORMULA)
    return words


def set_apart(words: str, *, before: str, behind: str) -> str:
    """The words of a formula between others: no digit joins the number beside it."""
    gap_before = " " if before[-1:].isdigit() and words[:1].isdecimal() else ""
    gap_behind = " " if words[-1:].isdigit() and behind[:1].isdecimal() else ""
    return f"{gap_before}{words}{gap_behind}"


def math_text(element: Any, depth: int = 0) -> str:
    """A formula on one line; what cannot be written leaves a mark in it."""
    name = _name(element)
    if name in SILENT_TAGS:
        return ""
    if depth > DEPTH_MAX:
        return Mark.FORMULA.text
    children = [child for child in element if isinstance(child.tag, str)]
    if name == "mtable":
        return "; ".join(", ".join(math_text(cell, depth + 2) for cell in row) for row in children)
    parts = [math_text(child, depth + 1) for child in children]
    if _is_barless(element):
        return f"({'; '.join(parts)})"
    if name == "mmultiscripts":
        return _multiscripts(children, parts)
    if layout := _layout(name, parts):
        return layout
    words = (element.text or "").translate(INVISIBLE)
    words = BLANKS.sub(" ", words) if name == "mtext" else words.strip()
    if name == "menclose":
        return _enclosed(element, children, parts)
    if name == "mfenced":
        if len(children) == 1 and _is_barless(children[0]) and element.get("open", "(") == "(":
            return "C" + parts[0].replace("; ", ",", 1)
        return f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}"
    if name not in ROWS:
        return f"{words} {' '.join(parts)} "
    return words + _row(children, parts)


def _row(children: list[Any], parts: list[str]) -> str:
    """The parts of a row. Digits of two numbers do not join; a fraction without a line in brackets is a binomial."""
    row = ""
    for place, (child, part) in enumerate(zip(children, parts, strict=True)):
        if _is_barless(child) and parts[place - 1 : place] == ["("] and parts[place + 1 : place + 2] == [")"]:
            row = f"{row[:-1]}C{part.replace('; ', ',', 1)[:-1]}"
        else:
            begins_number = part[:1].isdecimal() or (part[:1] in (".", ",") and part[1:2].isdecimal())
            row += f" {part}" if row[-1:].isdigit() and begins_number else part
        row += _tail(child)
    return row


def _notation(element: Any) -> list[str]:
    return (element.get("notation") or "longdiv").lower().split()


def _enclosed(element: Any, children: list[Any], parts: list[str]) -> str:
    notation = set(_notation(element))
    if notation <= FRAMES | STRIKES:
        return _row(children, parts)
    if notation == {"radical"}:
        return f"√{_grouped(_row(children, parts))}"
    return Mark.FORMULA.text


def _is_barless(element: Any) -> bool:
    thickness = (element.get("linethickness") or "1") if _name(element) == "mfrac" else "1"
    return BARLESS.fullmatch(thickness) is not None


def _multiscripts(children: list[Any], parts: list[str]) -> str:
    """A base with scripts before and behind it: ¹⁴₆C."""
    names = [_name(child) for child in children]
    middle = names.index("mprescripts") if "mprescripts" in names else len(names)
    before, behind = parts[middle + 1 :], parts[1:middle]
    prefixes = [_scripts(subscript, superscript) for subscript, superscript in _places(before)]
    suffixes = [
        lower_words(subscript) + raise_words(superscript) for subscript, superscript in _places(behind)
    ]
    return "".join(prefixes) + _base(parts[0] if parts else "") + "".join(suffixes)


def _scripts(subscript: str, superscript: str) -> str:
    return raise_words(superscript) + lower_words(subscript)


def _places(parts: list[str]) -> list[tuple[str, str]]:
    """The lower and upper script of each place; an upper one may be missing."""
    return list(zip(parts[::2], [*parts[1::2], ""], strict=False))


def _layout(name: str, parts: list[str]) -> str:
    match name, parts:
        case "mover", [base, accent] if len(base) == len(accent) == 1 and accent.translate(ACCENTS) != accent:
            return base + accent.translate(ACCENTS)
        case "msup" | "mover", [base, superscript]:
            return _base(base) + raise_words(superscript)
        case "msub" | "munder", [base, subscript]:
            return _base(base) + lower_words(subscript)
        case "msubsup" | "munderover", [base, subscript, superscript]:
            return _base(base) + lower_words(subscript) + raise_words(superscript)
        case "mfrac", [over, under]:
            return f"{_grouped(over)}/{_grouped(under)}"
        case "msqrt", [*_]:
            return f"√{_grouped(''.join(parts))}"
        case "mroot", [base, degree]:
            return f"{raise_words(degree)}√{_grouped(base)}"
    return ""


def _base(words: str) -> str:
    return (
        words
        if len(words) <= 1 or words.replace(".", "").isalnum() or words.endswith((")", "]"))
        else f"({words})"
    )


def _grouped(words: str) -> str:
    return words if words.replace(".", "").isalnum() else f"({words})"


def _name(element: Any) -> str:
    tag = element.tag if isinstance(element.tag, str) else "annotation"
    return tag.rpartition("}")[2].rpartition(":")[2]


def _tail(element: Any) -> str:
    return (element.tail or "").strip()
