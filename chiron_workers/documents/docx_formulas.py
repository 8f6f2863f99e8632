"""Formulas in Word's markup (OMML) as one line of text that keeps each operator: ∫₀¹ 2x dx, |x−3|, C(6,2), ¹⁴₆C, x̄."""

import re
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chiron_workers.documents.docx_controls import CONTROL, control_value
from chiron_workers.documents.docx_elements import DELETION, ELEMENTS, MATHS, LeftOut, Rule, W
from chiron_workers.documents.docx_signs import signs_of
from chiron_workers.documents.docx_styles import INVISIBLE, OFF, Place, run_look
from chiron_workers.documents.omissions import Mark
from chiron_workers.documents.scripts import SUBSCRIPTS, SUMS, SUPERSCRIPTS

if TYPE_CHECKING:
    from chiron_workers.documents.docx_writer import Writer

PRIMES = frozenset("′″‴'*†‡°")
TOKEN = re.compile(r"[^\W\d_][\u0300-\u036f\u20d0-\u20f0]*|[^\W\d_]+|[\d⁰-⁹¹²³]+(?:[.,]\d+)*")
WORD_SCRIPT = re.compile(r"[_^][^\W_]+$")
BRACKETS = {"(": ")", "[": "]", "{": "}", "|": "|"}
# What an accent over one letter is as a combining character, over several as a word.
ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0306": "breve", "\u0307": "dot",
    "\u0308": "ddot", "\u030c": "check", "\u0300": "grave", "\u0301": "acute", "\u20d7": "vec", "\u20d6": "vecl",
    "\u20db": "dddot", "\u20d1": "vec", "\u20d0": "vecl", "\u20e1": "vecb", "\u0331": "underline", "\u0332": "underline",
}  # fmt: skip
SPACING_ACCENTS = {
    "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "¯": "\u0304", "‾": "\u0305", "˙": "\u0307",
    "¨": "\u0308", "→": "\u20d7", "⃗": "\u20d7", "´": "\u0301", "`": "\u0300",
}  # fmt: skip
BRACES = frozenset("⏞⏟⎴⎵⏜⏝")
# Behind these, and before the first three of them, a letter or digit would be read as a part of them.
FRACTION, FUNCTION, LEADING_SCRIPT, OPERATOR, OTHER = "fraction", "function", "leading script", "operator", ""
RUN = "run"
# A script behind these would belong to their last part, and a raised or lowered one would go on with another.
OPERANDS = tuple(f"{MATHS}{name}" for name in ("f", "nary", "func", "bar", "rad"))
RAISED, LOWERED = (tuple(f"{MATHS}{name}" for name in (script, "sSubSup")) for script in ("sSup", "sSub"))
DELETIONS = (f"{W}del", f"{W}moveFrom")
CONTROL_LOOK = f"*/{MATHS}ctrlPr"
ALIGNMENT = re.compile("[&#]")  # of equations, and before the number of one


def formula_text(element: Any, writer: "Writer") -> str:
    """A formula on one line. What is not known here leaves a mark."""
    return _Formula(writer).inner(element)


class _Formula:
    def __init__(self, writer: "Writer") -> None:
        self._writer = writer
        self._font = ""  # of the run, if it is one of signs
        self._is_aligned = (
            False  # in an array of equations `&` is a place where they are aligned, and no letter
        )

    def inner(self, element: Any | None) -> str:
        """What is in an element, its parts kept apart where they would be read as one."""
        text, before = "", RUN
        for child in () if element is None else element:
            kind, words = self._part(child)
            if words:
                text += f" {words}" if _has_gap(text, before, words, kind) else words
                before = kind
        return text

    def _part(self, node: Any) -> tuple[str, str]:
        tag = node.tag
        layout = FORMULA_ELEMENTS.get(tag)
        if callable(layout):
            if _is_deleted(node):
                # Its operator is gone; what of its arguments is not deleted stays.
                self._writer.leave_out(DELETION.kind)
                return (RUN, "") if tag == f"{MATHS}r" else (OTHER, self.inner(node))
            return KINDS.get(tag, OTHER), layout(self, node)
        if layout is Rule.THROUGH:
            return OTHER, self.inner(node)
        treatment = ELEMENTS.get(tag)
        if layout is Rule.NOTHING or treatment is Rule.NOTHING:
            return OTHER, ""
        if treatment is Rule.THROUGH:
            return RUN, self.inner(node)
        if tag == CONTROL:
            words = control_value(node, self._writer)
            return RUN, self.inner(node) if words is None else words
        if isinstance(treatment, LeftOut):
            self._writer.leave_out(treatment.kind)
            return OTHER, ""
        if treatment is None:
            return OTHER, self._writer.mark(Mark.FORMULA if MATHS in str(tag) else Mark.UNKNOWN)
        return RUN, self._writer.words_of([node])

    def _argument(self, node: Any, name: str) -> str:
        return self.inner(node.find(f"{MATHS}{name}")).strip()

    def _run(self, node: Any) -> str:
        look = run_look(node.find(f"{W}rPr"), self._writer.styles)
        if look.place in INVISIBLE:
            self._writer.leave_out("passage that is struck out")
            return ""
        is_aligned, self._font = self._is_aligned, look.font
        self._is_aligned = is_aligned and not any(_is_set(node, "rPr", name) for name in ("nor", "lit"))
        words = self.inner(node)
        self._is_aligned, self._font = is_aligned, ""
        return (
            _raised(words)
            if look.place is Place.HIGH
            else _lowered(words)
            if look.place is Place.LOW
            else words
        )

    def _text(self, node: Any) -> str:
        text = node.text or ""
        words, unknown = signs_of(ALIGNMENT.sub(_unaligned, text) if self._is_aligned else text, self._font)
        for _ in range(unknown):
            self._writer.leave_out(Mark.SIGN.value)
        return words if not len(node) else words + self._writer.mark(Mark.SIGN)

    def _fraction(self, node: Any) -> str:
        over, under = self._argument(node, "num"), self._argument(node, "den")
        if _is_barless(node):
            return f"({over}; {under})"
        return f"{_grouped(over)}/{_grouped(under)}"

    def _delimiters(self, node: Any) -> str:
        start, end = _value(node, "dPr", "begChr", "("), _value(node, "dPr", "endChr", ")")
        arguments = node.findall(f"{MATHS}e")
        inside = _only_child(arguments[0]) if len(arguments) == 1 else None
        if (start, end) == ("(", ")") and inside is not None and _is_barless(inside):
            return f"C({self._argument(inside, 'num')},{self._argument(inside, 'den')})"
        if inside is not None and inside.tag == f"{MATHS}m":
            return f"{start}{self._rows(inside)}{end}"
        separator = _value(node, "dPr", "sepChr", "|")
        separator = f"{separator} " if separator in (",", ";") else separator or " "
        return f"{start}{separator.join(self.inner(part).strip() for part in arguments)}{end}"

    def _nary(self, node: Any) -> str:
        operator = _value(node, "naryPr", "chr", "∫") or self._writer.mark(Mark.SIGN)
        below = "" if _is_set(node, "naryPr", "subHide") else self._argument(node, "sub")
        above = "" if _is_set(node, "naryPr", "supHide") else self._argument(node, "sup")
        return f"{operator}{_lowered(below)}{_raised(above)} {self._argument(node, 'e')}".rstrip()

    def _scripts(self, node: Any) -> str:
        base, below, above = node.find(f"{MATHS}e"), self._argument(node, "sub"), self._argument(node, "sup")
        words = self.inner(base).strip()
        if (
            words
            and (below or above)
            and not _is_bracketed(words)
            and _is_compound(base, is_raised=bool(above))
        ):
            words = f"({words})"
        return words + _lowered(below) + _raised(above)

    def _leading_scripts(self, node: Any) -> str:
        scripts = _raised(self._argument(node, "sup")) + _lowered(self._argument(node, "sub"))
        return scripts + self._argument(node, "e")

    def _root(self, node: Any) -> str:
        degree = "" if _is_set(node, "radPr", "degHide") else self._argument(node, "deg")
        return f"{_raised(degree)}√{_grouped(self._argument(node, 'e'))}"

    def _lower_limit(self, node: Any) -> str:
        return self._argument(node, "e") + _lowered(self._argument(node, "lim"))

    def _upper_limit(self, node: Any) -> str:
        words, above = self._argument(node, "e"), self._argument(node, "lim")
        # Raised, it would be a power.
        return f"overset({above}, {words})" if words[-1:].isalnum() and above else words + _raised(above)

    def _function(self, node: Any) -> str:
        words = self._argument(node, "e")
        return f"{self._argument(node, 'fName')}{'' if words.startswith('(') else ' '}{words}".strip()

    def _accent(self, node: Any) -> str:
        return _accented(self._argument(node, "e"), _value(node, "accPr", "chr", "\u0302"))

    def _bar(self, node: Any) -> str:
        is_above = _value(node, "barPr", "pos", "bot") == "top"
        return _accented(self._argument(node, "e"), "\u0304" if is_above else "\u0332")

    def _group(self, node: Any) -> str:
        sign, words = _value(node, "groupChrPr", "chr", "⏟"), self._argument(node, "e")
        return words if not sign else _grouped(words) if sign in BRACES else f"{sign}({words})"

    def _box(self, node: Any) -> str:
        return self._argument(node, "e")

    def _framed(self, node: Any) -> str:
        words, properties = self._argument(node, "e"), node.find(f"{MATHS}borderBoxPr")
        strikes = [] if properties is None else [part for part in properties if "}strike" in str(part.tag)]
        is_struck = any(part.get(f"{MATHS}val", "1") not in OFF for part in strikes)
        return f"cancel({words})" if is_struck else words

    def _phantom(self, node: Any) -> str:
        is_shown = _value(node, "phantPr", "show", "1") not in OFF
        return self._argument(node, "e") if is_shown else " "

    def _equations(self, node: Any) -> str:
        is_aligned, self._is_aligned = self._is_aligned, True
        words = "; ".join(self.inner(part).strip() for part in node.findall(f"{MATHS}e"))
        self._is_aligned = is_aligned
        return words

    def _matrix(self, node: Any) -> str:
        return f"[{self._rows(node)}]"

    def _rows(self, node: Any) -> str:
        return "; ".join(
            ", ".join(self.inner(cell).strip() for cell in row.findall(f"{MATHS}e"))
            for row in node.findall(f"{MATHS}mr")
        )


def _has_gap(text: str, before: str, words: str, kind: str) -> bool:
    """Whether two parts of a formula would be read as one without a space."""
    if not text or (before == kind == RUN):
        return False
    last, first = text[-1], words[0]
    if (last.isdigit() and first.isdigit()) or (before == FRACTION and first in "([{|√"):
        return True
    if kind == LEADING_SCRIPT:
        return (last.isalnum() or last == ")") and first != "√"
    if not first.isalnum() or not last.isalnum():
        return False
    return (
        kind in (FRACTION, FUNCTION)
        or before in (FRACTION, FUNCTION, OPERATOR)
        or bool(WORD_SCRIPT.search(text[-40:]))
    )


def _value(node: Any, properties: str, name: str, default: str) -> str:
    element = node.find(f"{MATHS}{properties}/{MATHS}{name}")
    return default if element is None else str(element.get(f"{MATHS}val", ""))


def _is_set(node: Any, properties: str, name: str) -> bool:
    """Whether a switch such as `<m:degHide/>` is set."""
    element = node.find(f"{MATHS}{properties}/{MATHS}{name}")
    return element is not None and element.get(f"{MATHS}val", "1") not in OFF


def _is_deleted(node: Any) -> bool:
    """Whether a tracked change deletes a run, or the operator of a structure."""
    if node.tag == f"{MATHS}r":
        # Most runs have nothing but their text.
        places = [node, node.find(f"{W}rPr")] if len(node) > 1 else []
    else:
        places = [node.find(CONTROL_LOOK)] if len(node) and len(node[0]) else []
    return any(place is not None and place.find(mark) is not None for place in places for mark in DELETIONS)


def _unaligned(sign: re.Match[str]) -> str:
    """Nothing for a place of alignment beside an operator; a gap, where two numbers would become one."""
    words, start, end = sign.string, sign.start(), sign.end()
    is_beside = (start and not words[start - 1].isalnum()) or (end < len(words) and not words[end].isalnum())
    return "" if is_beside and sign[0] != "#" else " "


def _is_barless(node: Any) -> bool:
    return node.tag == f"{MATHS}f" and _value(node, "fPr", "type", "bar") == "noBar"


def _only_child(element: Any | None) -> Any | None:
    """The one part of an argument that has words; None if there are several."""
    parts = [] if element is None else [part for part in element if _has_words(part)]
    return parts[0] if len(parts) == 1 else None


def _is_compound(base: Any, *, is_raised: bool) -> bool:
    """Whether a script behind a base would belong to its last part."""
    only = _only_child(base)
    if only is not None and only.tag in (f"{MATHS}r", f"{MATHS}d"):
        return False
    return next(base.iter(*OPERANDS, *(RAISED if is_raised else LOWERED)), None) is not None


def _has_words(part: Any) -> bool:
    if part.tag == f"{MATHS}r":
        return any(
            child.tag not in (f"{MATHS}rPr", f"{W}rPr") and (child.tag != f"{MATHS}t" or child.text)
            for child in part
        )
    return Rule.NOTHING not in (FORMULA_ELEMENTS.get(part.tag), ELEMENTS.get(part.tag))


def _raised(words: str) -> str:
    if not words or set(words) <= PRIMES:
        return words
    if SUMS.fullmatch(words) or words in ("+", "-", "−"):
        return words.translate(SUPERSCRIPTS)
    return f"^{_grouped(words)}"


def _lowered(words: str) -> str:
    if not words:
        return ""
    return words.translate(SUBSCRIPTS) if SUMS.fullmatch(words) else f"_{_grouped(words)}"


def _grouped(words: str) -> str:
    """Words as one operand: in brackets if they are more than one name or number, and have none."""
    if TOKEN.fullmatch(words) or not words or _is_bracketed(words):
        return words or "( )"
    return f"({words})"


def _is_bracketed(words: str) -> bool:
    end = BRACKETS.get(words[0])
    if end is None or words[-1] != end or len(words) < 2:
        return False
    if end == words[0]:
        return words.count(end) == 2
    depth = 0
    for place, letter in enumerate(words):
        depth += (letter == words[0]) - (letter == end)
        if depth == 0:
            return place == len(words) - 1
    return False


def _accented(words: str, accent: str) -> str:
    accent = SPACING_ACCENTS.get(accent, accent)
    if not accent or not words:
        return words
    is_combining = bool(unicodedata.combining(accent[0]))
    if len(words) == 1 and is_combining:
        return unicodedata.normalize("NFC", words + accent)
    return f"{ACCENTS[accent]}({words})" if accent in ACCENTS else f"({words}){accent}"


_M = MATHS
FORMULA_ELEMENTS: dict[str, Rule | Callable[[_Formula, Any], str]] = {
    f"{_M}acc": _Formula._accent,
    f"{_M}bar": _Formula._bar,
    f"{_M}borderBox": _Formula._framed,
    f"{_M}box": _Formula._box,
    f"{_M}d": _Formula._delimiters,
    f"{_M}eqArr": _Formula._equations,
    f"{_M}f": _Formula._fraction,
    f"{_M}func": _Formula._function,
    f"{_M}groupChr": _Formula._group,
    f"{_M}limLow": _Formula._lower_limit,
    f"{_M}limUpp": _Formula._upper_limit,
    f"{_M}m": _Formula._matrix,
    f"{_M}nary": _Formula._nary,
    f"{_M}oMath": Rule.THROUGH,
    f"{_M}phant": _Formula._phantom,
    f"{_M}r": _Formula._run,
    f"{_M}rad": _Formula._root,
    f"{_M}sPre": _Formula._leading_scripts,
    f"{_M}sSub": _Formula._scripts,
    f"{_M}sSubSup": _Formula._scripts,
    f"{_M}sSup": _Formula._scripts,
    f"{_M}t": _Formula._text,
    # Arguments are read by the element that they belong to.
    **{
        f"{_M}{name}": Rule.THROUGH for name in ("deg", "den", "e", "fName", "lim", "mr", "num", "sub", "sup")
    },
    **{
        f"{_M}{name}": Rule.NOTHING
        for name in (
            *("accPr", "argPr", "barPr", "borderBoxPr", "boxPr", "ctrlPr", "dPr", "eqArrPr", "fPr", "funcPr"),
            *(
                "groupChrPr",
                "limLowPr",
                "limUppPr",
                "mPr",
                "naryPr",
                "oMathParaPr",
                "phantPr",
                "rPr",
                "radPr",
            ),
            *("sPrePr", "sSubPr", "sSubSupPr", "sSupPr"),
        )
    },
}
KINDS = {
    f"{_M}r": RUN,
    f"{_M}f": FRACTION,
    f"{_M}func": FUNCTION,
    f"{_M}nary": OPERATOR,
    f"{_M}rad": LEADING_SCRIPT,
    f"{_M}sPre": LEADING_SCRIPT,
}
