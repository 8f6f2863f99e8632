"""The words of a Word file's paragraphs, with what their marks mean: raised, lowered, deleted, signs, fields, formulas."""

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from chiron_workers.documents.docx_controls import CONTROL, control_value
from chiron_workers.documents.docx_drawings import graphic
from chiron_workers.documents.docx_elements import (
    COMPATIBILITY,
    ELEMENTS,
    MATHS,
    LeftOut,
    Rule,
    W,
)
from chiron_workers.documents.docx_fields import Field, field_value
from chiron_workers.documents.docx_formulas import formula_text
from chiron_workers.documents.docx_signs import sign, signs_of
from chiron_workers.documents.docx_styles import INVISIBLE, PLAIN, Look, Place, Styles, run_look
from chiron_workers.documents.docx_tables import table_lines
from chiron_workers.documents.omissions import Mark
from chiron_workers.documents.scripts import lower_words, raise_words

if TYPE_CHECKING:
    from chiron_workers.documents.docx_writer import Writer

P, TBL, R, T, RPR = f"{W}p", f"{W}tbl", f"{W}r", f"{W}t", f"{W}rPr"
# What a newer Word writes for itself and is read here; of all else the copy for older versions is read.
READ_EXTENSIONS = frozenset((
    "wps", "wpg", "wpc", "wp14", "w14", "w15", "w16", "w16cex", "w16cid",
    "w16du", "w16sdtdh", "w16se", "a14", "c14", "pic",
))  # fmt: skip
CHART_EXTENSION = "cx"
MOVED_CHARS_MAX = 8


def paragraph_look(paragraph: Any, styles: Styles) -> Look:
    """What the runs of a paragraph have from its style: that they are hidden, struck out or signs."""
    reference = paragraph.find(f"{W}pPr/{W}pStyle")
    look = styles.look(reference.get(f"{W}val", "")) if reference is not None else PLAIN
    return look if look.place in INVISIBLE else Look(Place.LINE, look.font)


def alternative(element: Any) -> Any:
    """What of several alternatives is read: the first one that is known here, else the copy for old versions of Word."""
    choices = element.findall(f"{COMPATIBILITY}Choice")
    for choice in choices:
        prefixes = choice.get("Requires", "").split()
        if all(prefix in READ_EXTENSIONS or prefix.startswith(CHART_EXTENSION) for prefix in prefixes):
            return choice
    fallback = element.find(f"{COMPATIBILITY}Fallback")
    return fallback if fallback is not None else choices[0] if choices else []


class Gap(IntEnum):
    """What a space keeps apart from the words before it: a digit from a formula, any words from the mark of a picture."""

    NONE = 0
    DIGITS = 1
    WORDS = 2


class Words:
    """The words of one paragraph."""

    def __init__(self, writer: "Writer", look: Look) -> None:
        self._writer = writer
        self._look = look
        self._pieces: list[list[str]] = []  # each of one place, which comes first
        self._fields: list[Field] = []
        if writer.unfinished_fields:
            # If a field's instruction continues here, this begins within it.
            self._fields, writer.unfinished_fields = writer.unfinished_fields, []
            self._pieces = [[Place.LINE]]
            for field_ in self._fields:
                field_.start = 0
        self._gap = Gap.NONE
        self._stack: list[tuple[Any, Look]] = []

    def text(self, element: Any) -> str:
        """The text of what is in an element or a list."""
        self._push(element, self._look)
        while self._stack:
            node, look = self._stack.pop()
            tag = node.tag
            if tag == R:
                self._write_run(node, look)
                continue
            treatment = ELEMENTS.get(tag)
            if treatment is Rule.NOTHING:
                continue
            if treatment is Rule.THROUGH:
                self._push(node, look)
            elif treatment is Rule.WRITER:
                WRITERS[tag](self, node, look)
            elif treatment is None:
                self._mark(Mark.UNKNOWN)
            elif isinstance(treatment, Mark):
                self._mark(treatment)
            elif isinstance(treatment, str):
                self._add(treatment, look.place)
            elif isinstance(treatment, LeftOut):
                self._writer.leave_out(treatment.kind)
        if self._fields:
            self._leave_fields()
        return _written(self._pieces)

    def _leave_fields(self) -> None:
        """Pass to the next paragraph the fields whose instruction continues there."""
        for depth, field_ in enumerate(self._fields):
            if not field_.has_result and field_.begin in self._writer.split_fields:
                del self._pieces[field_.start :]
                self._writer.unfinished_fields = self._fields[depth:]
                return

    def _push(self, nodes: Any, look: Look) -> None:
        self._stack.extend([(node, look) for node in reversed(nodes)])

    def _add(self, words: str, place: Place) -> None:
        if self._fields and not self._fields[-1].has_words and words.strip():
            self._fields[-1].has_words = True
        if self._gap and words:
            is_joined = words[0].isdigit() if self._gap is Gap.DIGITS else not words[0].isspace()
            words, self._gap = f" {words}" if is_joined else words, Gap.NONE
        if self._pieces and self._pieces[-1][0] == place:
            self._pieces[-1].append(words)
        else:
            self._pieces.append([place, words])

    def _mark(self, mark: Mark) -> None:
        self._add(self._writer.mark(mark), Place.LINE)

    def _write_letters(self, node: Any, look: Look) -> None:
        words = node.text or ""
        if len(node):  # A reference to an entity is never followed.
            words += "".join(self._writer.mark(Mark.SIGN) + (entity.tail or "") for entity in node)
        if look.font or not words.isascii():
            words, unknown = signs_of(words, look.font)
            for _ in range(unknown):
                self._writer.leave_out(Mark.SIGN.value)
        self._add(words, look.place)

    def _write_run(self, node: Any, look: Look) -> None:
        parts = list(node)
        if parts and parts[0].tag == RPR:
            look = run_look(parts.pop(0), self._writer.styles, look)
        if look.place in INVISIBLE:
            # Where a field begins and ends counts even if it is hidden.
            self._push([part for part in parts if part.tag in FIELD_TAGS], look)
            if any(
                part.tag not in FIELD_TAGS and ELEMENTS.get(part.tag) is not Rule.NOTHING for part in parts
            ):
                self._writer.leave_out(look.place.value)
        elif len(parts) == 1 and parts[0].tag == T:
            self._write_letters(parts[0], look)
        else:
            self._push(parts, look)

    def _write_paragraph(self, node: Any, look: Look) -> None:
        if self._pieces:
            self._add("\n", Place.LINE)
        self._push(node, paragraph_look(node, self._writer.styles))

    def _write_table(self, node: Any, look: Look) -> None:
        lines = "\n".join(table_lines(node, self._writer))
        self._add(f"\n{lines}\n" if self._pieces else f"{lines}\n", Place.LINE)

    def _write_sign(self, node: Any, look: Look) -> None:
        words = sign(_hex(node.get(f"{W}char", "")), node.get(f"{W}font", ""))
        self._add(words or self._writer.mark(Mark.SIGN), look.place)

    def _write_ruby(self, node: Any, look: Look) -> None:
        base, above = (self._writer.words_of(node.findall(f"{W}{name}"), look) for name in ("rubyBase", "rt"))
        self._add(f"{base}({above})" if above.strip() else base, look.place)

    def _write_reference(self, node: Any, look: Look) -> None:
        self._add(f"[{node.get(f'{W}id')}]", Place.LINE)

    def _write_formula(self, node: Any, look: Look) -> None:
        words = formula_text(node, self._writer)
        if words and self._pieces:
            before = next((piece for piece in reversed(self._pieces[-1]) if piece), "")
            if node.getprevious() is not None and node.getprevious().tag == node.tag:
                words = f"\n{words}"
            elif before[-1:].isdigit() and words[0].isdigit():
                words = f" {words}"
        self._add(words, Place.LINE)
        self._gap = Gap.DIGITS if words[-1:].isdigit() else Gap.NONE

    def _write_formulas(self, node: Any, look: Look) -> None:
        self._add("\n" if self._pieces and node.getnext() is not None else "", Place.LINE)
        self._push(node, look)

    def _write_graphic(self, node: Any, look: Look) -> None:
        for words, is_beside in graphic(node, self._writer):
            if is_beside:
                self._writer.floats.append(words)
                continue
            is_mark = words.startswith("[")  # else the signs that it shows, such as a letter of a formula
            before = next(
                (piece for place in reversed(self._pieces) for piece in reversed(place[1:]) if piece), " "
            )
            self._add(f" {words}" if is_mark and not before[-1].isspace() else words, Place.LINE)
            self._gap = Gap.WORDS if is_mark else self._gap

    def _write_alternative(self, node: Any, look: Look) -> None:
        self._push(alternative(node), look)

    def _write_simple_field(self, node: Any, look: Look) -> None:
        has_result = any(ELEMENTS.get(part.tag) is not Rule.NOTHING for part in node)
        end = node.makeelement(f"{W}fldChar", {f"{W}fldCharType": "end"})
        self._fields.append(Field(len(self._pieces), [node.get(f"{W}instr", "")], has_result=has_result))
        self._pieces.append([Place.LINE])
        self._push([*node, end], look)

    def _write_instruction(self, node: Any, look: Look) -> None:
        if self._fields and not self._fields[-1].has_result:
            self._fields[-1].instruction.append(node.text or "")

    def _write_field(self, node: Any, look: Look) -> None:
        kind = node.get(f"{W}fldCharType")
        if kind == "begin":
            # A piece of its own, so that what belongs to the instruction can be taken back.
            self._fields.append(Field(len(self._pieces), form=node.find(f"{W}ffData"), begin=node))
            self._pieces.append([Place.LINE])
        elif kind == "separate" and self._fields:
            field_ = self._fields[-1]
            field_.has_result, field_.has_words = True, False
            self._take_back(field_)
        elif kind == "end" and self._fields:
            field_ = self._fields.pop()
            if not field_.has_result or not field_.has_words:
                self._take_back(field_)
                self._add("" if look.place in INVISIBLE else field_value(field_, self._writer), Place.LINE)
            elif self._fields:
                self._fields[-1].has_words = True

    def _take_back(self, field_: Field) -> None:
        del self._pieces[field_.start :]
        self._pieces.append([Place.LINE])

    def _write_page_number(self, node: Any, look: Look) -> None:
        if not self._writer.is_edge:
            self._mark(Mark.VALUE)

    def _write_control(self, node: Any, look: Look) -> None:
        value = control_value(node, self._writer)
        if value is None:
            self._push(node, look)
        else:
            self._add(value, Place.LINE)


def _written(pieces: list[list[str]]) -> str:
    text = ""
    for place, *words in pieces:
        piece = "".join(words)
        if place == Place.HIGH or (place == Place.MOVED_UP and _is_script(piece, text)):
            text += raise_words(piece, before=text[-20:])
        elif place == Place.LOW or (place == Place.MOVED_DOWN and _is_script(piece, text)):
            text += lower_words(piece)
        else:
            text += piece
    return text


def _is_script(piece: str, before: str) -> bool:
    """Whether words moved by hand are a power or an index: if they are short and follow a letter or digit."""
    return len(piece) <= MOVED_CHARS_MAX and before[-1:].isalnum() and piece.strip() == piece


def _hex(words: str) -> int:
    try:
        return int(words, 16)
    except ValueError:
        return 0


FIELD_TAGS = (f"{W}fldChar", f"{W}instrText")
WRITERS: dict[str, Callable[[Words, Any, Look], None]] = {
    P: Words._write_paragraph,
    TBL: Words._write_table,
    R: Words._write_run,
    T: Words._write_letters,
    f"{W}sym": Words._write_sign,
    f"{W}pgNum": Words._write_page_number,
    CONTROL: Words._write_control,
    f"{W}ruby": Words._write_ruby,
    f"{W}fldChar": Words._write_field,
    f"{W}fldSimple": Words._write_simple_field,
    f"{W}instrText": Words._write_instruction,
    f"{W}footnoteReference": Words._write_reference,
    f"{W}endnoteReference": Words._write_reference,
    f"{W}drawing": Words._write_graphic,
    f"{W}pict": Words._write_graphic,
    f"{W}object": Words._write_graphic,
    f"{MATHS}oMath": Words._write_formula,
    f"{MATHS}oMathPara": Words._write_formulas,
    f"{COMPATIBILITY}AlternateContent": Words._write_alternative,
}
