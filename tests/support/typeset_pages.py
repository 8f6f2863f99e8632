"""Sentences with raised, lowered, deleted and noted words as documents of each format, and what a quote of them may be."""

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from random import Random

from docx import Document as WordDocument
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from chiron_workers.documents.docx import read_docx
from chiron_workers.documents.html import read_html
from chiron_workers.documents.markdown import read_markdown
from chiron_workers.documents.pdf import read_pdf
from chiron_workers.documents.rst import read_rst

# A piece of a sentence: its words, and what its marks make of them.
Piece = tuple[str, str]
Sentence = list[Piece]
WORDS = (
    "river",
    "harbour",
    "meadow",
    "engine",
    "farmer",
    "lantern",
    "copper",
    "village",
    "willow",
    "castle",
    "market",
)
SUPERSCRIPT = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True, slots=True)
class Format:
    """How sentences become the text of a document of one format, and whether its notes are but raised numbers."""

    text: Callable[[list[Sentence]], str]
    has_raised_notes: bool = False

    def meaning(self, sentence: Sentence) -> Sentence:
        """The sentence as its text can be read: behind a number nothing tells a raised note from a power."""
        if not self.has_raised_notes:
            return sentence
        befores = ["", *(words for _, words in sentence)]
        return [
            ("sup" if mark == "note" and before[-1:].isdigit() else mark, words)
            for before, (mark, words) in zip(befores, sentence, strict=False)
        ]


def sentences(random: Random, count: int) -> list[Sentence]:
    """Sentences that each have something which typesetting and reading can get wrong, and words of their own."""
    return [_sentence(random, n) for n in range(count)]


def _sentence(random: Random, n: int) -> Sentence:
    first, second, third = random.sample(WORDS, 3)
    name = f"{first} {second} {n + 100}"
    digit, power = random.randrange(2, 10), random.randrange(2, 10)
    big, other = random.randrange(11, 98), random.randrange(101, 989)
    middles: list[Sentence] = [
        [("", f"holds {big} x 10"), ("sup", str(power)), ("", " grains")],
        [("", f"holds {big} x 10"), ("sup", f"-{power}"), ("", " grains")],
        [("", f"covers {other} m"), ("sup", "2"), ("", " of land")],
        [("", "gives off CO"), ("sub", str(digit)), ("", " at night")],
        [("", f"lost {digit}"), ("note", str(power)), ("", " sheep in all")],
        [("", "was not effective"), ("note", str(big)), ("", " in sheep")],
        [("", "fell to "), ("del", f"{big}%"), ("", " "), ("ins", f"{big - 9}%"), ("", " in a year")],
        [("", f"fell by {big} % in p < 0.0{digit} of cases")],
        [("", f"cost {big},{other},{other - 1} crowns")],
        [("", f"had -{big} degrees and {digit}' of snow")],
    ]
    return [("", f"The {name} "), *random.choice(middles), ("", f" near the {third}.")]


def plain(sentence: Sentence) -> str:
    """The sentence as it is meant, notes left out."""
    written = {
        "": str,
        "ins": str,
        "sup": lambda words: words.translate(SUPERSCRIPT),
        "sub": lambda words: words.translate(SUBSCRIPT),
    }
    return "".join(written.get(mark, lambda _: "")(words) for mark, words in sentence)


def in_html(page: list[Sentence]) -> str:
    """The text of a page, as it is read."""
    marks = {"note": '<sup><a href="#n{0}">{0}</a></sup>', "": "{}"}
    body = "".join(
        f"<p>{''.join(marks.get(mark, f'<{mark}>{{}}</{mark}>').format(escape(words)) for mark, words in sentence)}</p>"
        for sentence in page
    )
    return read_html(f"<html><body><article><h1>Report</h1>{body}</article></body></html>").text


def in_markdown(page: list[Sentence]) -> str:
    """The text of a Markdown file, as it is read."""
    marks = {"sup": "^{}^", "sub": "~{}~", "del": "~~{}~~", "note": "[^{}]"}
    return read_markdown(_written(page, marks).replace("<", "&lt;")).text


def in_inline_html(page: list[Sentence]) -> str:
    """The text of a Markdown file whose marks are HTML, as it is read."""
    marks = {mark: f"<{mark}>{{}}</{mark}>" for mark in ("sup", "sub", "del", "ins")}
    return read_markdown(_written(page, marks | {"note": "[^{}]"}).replace(" < ", " &lt; ")).text


def in_rst(page: list[Sentence]) -> str:
    """The text of a reStructuredText file, as it is read."""
    marks = {mark: f"\\ :{mark}:`{{}}`\\ " for mark in ("sup", "sub", "del")} | {"note": "\\ [{}]_\\ "}
    numbers = sorted({words for sentence in page for mark, words in sentence if mark == "note"})
    notes = "\n".join(f".. [{number}] A note." for number in numbers)
    return read_rst(f".. role:: del\n\n{_written(page, marks)}\n\n{notes}").text


def in_docx(page: list[Sentence]) -> str:
    """The text of a Word file, as it is read: notes are raised numbers."""
    document = WordDocument()
    for sentence in page:
        paragraph = document.add_paragraph()
        for mark, words in sentence:
            run = paragraph.add_run(words)
            if mark in ("sup", "note"):
                run.font.superscript = True
            elif mark == "sub":
                run.font.subscript = True
            if mark in ("del", "ins"):
                change = OxmlElement(f"w:{mark}")
                run._r.addprevious(change)
                change.append(run._r)
                for text in run._r.findall(qn("w:t")) if mark == "del" else []:
                    text.tag = qn("w:delText")
    file = io.BytesIO()
    document.save(file)
    return read_docx(file.getvalue(), name="report").text


def in_pdf(page: list[Sentence]) -> str:
    """The text of a PDF, as it is read: raised and lowered words are small and stand high or low."""
    lines = [
        f"1 0 0 1 40 {800 - 18 * n} Tm {''.join(map(_shown, sentence))}" for n, sentence in enumerate(page)
    ]
    return "\n\n".join(
        read_pdf(_pdf(lines[n : n + 40], n), name="report").text for n in range(0, len(lines), 40)
    )


def _shown(piece: Piece) -> str:
    mark, words = piece
    size, rise = {"sup": (7, 4), "note": (7, 4), "sub": (7, -2)}.get(mark, (11, 0))
    literal = re.sub(r"([()\\])", r"\\\1", words)
    return f"/F1 {size} Tf {rise} Ts ({literal}) Tj " if mark != "del" else ""


def _pdf(lines: list[str], first: int) -> bytes:
    moved = "\n".join(lines).replace(f" {800 - 18 * first} Tm", " 800 Tm")
    moved = re.sub(
        r" (-?\d+) Tm", lambda match: f" {int(match[1]) + 18 * first if match[1] != '800' else 800} Tm", moved
    )
    stream = f"BT\n{moved}\nET".encode("latin-1")
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    file, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(file))
        file += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(bodies) + 1, len(file))
    return file + head + table + tail


def _written(page: list[Sentence], marks: dict[str, str]) -> str:
    return "\n\n".join(
        "".join(marks.get(mark, "{}").format(words) for mark, words in sentence) for sentence in page
    )


FORMATS = {
    "HTML": Format(in_html),
    "Markdown": Format(in_markdown),
    "Markdown with HTML": Format(in_inline_html),
    "reStructuredText": Format(in_rst),
    "Word": Format(in_docx, has_raised_notes=True),
    "PDF": Format(in_pdf, has_raised_notes=True),
}
# How a quote can look otherwise and say the same. Each takes the plain sentence.
VARIANTS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "carets": lambda text: re.sub("[⁻⁰¹²³⁴-⁹]+", lambda run: "^" + _digits(run[0]), text),
    "LaTeX": lambda text: re.sub("[⁻⁰¹²³⁴-⁹]+", lambda run: "^{" + _digits(run[0]) + "}", text),
    "low lines": lambda text: re.sub("[₀-₉]", lambda run: "_" + _digits(run[0]), text),
    "lowered digits on the line": lambda text: re.sub("[₀-₉]", lambda run: _digits(run[0]), text),
    "no gaps": lambda text: text.replace(" %", "%").replace(" < ", "<"),
    "minus signs": lambda text: re.sub(r"(?<= )-(?=\d)", "−", text),
    "full-width digits": lambda text: re.sub(r"(?<= )\d+(?= )", lambda run: _wide(run[0]), text),
}


def _digits(words: str) -> str:
    return words.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻₀₁₂₃₄₅₆₇₈₉", "0123456789-0123456789"))


def _wide(words: str) -> str:
    return "".join(chr(ord(letter) + 0xFEE0) for letter in words)


def _without(mark: str) -> Callable[[Sentence], str]:
    return lambda sentence: plain([piece for piece in sentence if piece[0] != mark])


def _as(mark: str, new: Callable[[str], str]) -> Callable[[Sentence], str]:
    """The plain sentence with the words of a mark otherwise."""
    return lambda sentence: plain(
        [("", new(words)) if kind == mark else (kind, words) for kind, words in sentence]
    )


def _changed(pattern: str, new: Callable[[re.Match[str]], str]) -> Callable[[Sentence], str]:
    return lambda sentence: re.sub(pattern, new, plain(sentence))


# How a quote can say what its page does not, by a way in which typesetting is lost.
MUTATIONS: dict[str, Callable[[Sentence], str]] = {
    "power on the line": _as("sup", str),
    "power dropped": _without("sup"),
    "power changed": _as("sup", lambda words: _next(words).translate(SUPERSCRIPT)),
    "power changed, with a caret": _as("sup", lambda words: "^" + _next(words)),
    "power's sign changed": _changed(r"10(⁻?)(?=[⁰-⁹²³])", lambda match: "10" if match[1] else "10⁻"),
    "power lowered": _as("sup", lambda words: words.translate(SUBSCRIPT)),
    "number raised": _changed(
        r"(\d)(\d) (x|%)", lambda match: f"{match[1]}{match[2].translate(SUPERSCRIPT)} {match[3]}"
    ),
    "formula changed": _as("sub", lambda words: _next(words).translate(SUBSCRIPT)),
    "formula's number raised": _as("sub", lambda words: words.translate(SUPERSCRIPT)),
    "note joined to its number": _as("note", str),
    "note raised at its number": _changed(
        r"lost (\d) ", lambda match: f"lost {match[1]}{match[1].translate(SUPERSCRIPT)} "
    ),
    "note changed": _as("note", lambda words: f"[{_next(words)}]"),
    "deleted text brought back": lambda sentence: plain(
        [("ins" if kind == "del" else "del" if kind == "ins" else kind, words) for kind, words in sentence]
    ),
    "deleted beside inserted text": _as("del", str),
    "inserted text left out": _without("ins"),
    "relation turned round": _changed("p <", lambda _: "p >"),
    "relation dropped": _changed("p <", lambda _: "p"),
    "per cent to per mille": _changed("(?<=\\d) ?%", lambda _: "‰"),
    "per cent dropped": _changed(r"(?<=\d) ?%", lambda _: ""),
    "minus dropped": _changed(r"-(?=\d)", lambda _: ""),
    "prime doubled": _changed("'", lambda _: "″"),
    "separators dropped": _changed(r"(?<=\d),(?=\d{3})", lambda _: ""),
    "separator to a point": _changed(r"(?<=\d),(?=\d{3} )", lambda _: "."),
    "negation dropped": _changed(" not ", lambda _: " "),
}


def _next(words: str) -> str:
    return "".join(str(int(letter) % 9 + 1) if letter.isdigit() else letter for letter in words)
