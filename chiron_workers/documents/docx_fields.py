"""What a field of a Word file shows that has no stored result."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chiron_workers.documents.docx_elements import ELEMENTS, Rule, W
from chiron_workers.documents.docx_signs import is_character, is_sign_font, sign
from chiron_workers.documents.docx_styles import is_on
from chiron_workers.documents.omissions import Mark

if TYPE_CHECKING:
    from chiron_workers.documents.docx_writer import Writer

# Fields that show nothing where they stand, or no more than what is in the file.
SILENT = frozenset(
    (
        *(
            "",
            "ADVANCE",
            "ASK",
            "BIBLIOGRAPHY",
            "HYPERLINK",
            "INDEX",
            "PRIVATE",
            "RD",
            "SET",
            "TA",
        ),
        *("TC", "TOA", "TOC", "XE"),
    )
)
# In a header or footer they say nothing about what the document says.
PAGE_FIELDS = frozenset(("PAGE", "NUMPAGES", "SECTION", "SECTIONPAGES"))
FIELD_MARK, PARAGRAPH = f"{W}fldChar", f"{W}p"
SYMBOL_CODE = re.compile(r"SYMBOL\s+(0x[0-9a-f]+|\d+|\S)", re.IGNORECASE)
SYMBOL_CHARSET = re.compile(r"\\([au])\b")  # the code is one of windows-1252, or of Unicode
SYMBOL_FONT = re.compile(r'\\f\s+(?:"([^"]*)"|(\S+))')
BUTTON = re.compile(r"(?:MACROBUTTON|GOTOBUTTON)\s+\S+\s+(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class Field:
    """A field that is being read.

    Args:
        start: Of the pieces of its paragraph, the one where it begins.
        form: Its ffData element, if it is a form field.
        begin: The element that begins it.
        has_words: Whether there are words in its instruction or, behind that, in its result.
    """

    start: int
    instruction: list[str] = field(default_factory=list)
    form: Any | None = None
    begin: Any | None = None
    has_result: bool = False
    has_words: bool = False


def split_fields(root: Any) -> frozenset[Any]:
    """The elements of a part that begin fields whose instruction ends in a later paragraph, beside that where it begins."""
    fields = list[tuple[Any | None, Any]]()
    split = set[Any]()
    for mark in root.iter(FIELD_MARK):
        paragraph = _paragraph(mark)
        if paragraph is None:
            continue
        kind = mark.get(f"{W}fldCharType")
        if kind == "begin":
            fields.append((mark, paragraph))
        elif fields and kind in ("separate", "end"):
            begin, first = fields.pop()
            if begin is not None and first is not paragraph and first.getparent() is paragraph.getparent():
                split.add(begin)
            if kind == "separate":
                fields.append((None, paragraph))
    return frozenset(split)


def _paragraph(mark: Any) -> Any | None:
    """The paragraph in which a mark of a field is read; None where it is not, as it is deleted."""
    element = mark.getparent()
    while element is not None and element.tag != PARAGRAPH:
        is_read = ELEMENTS.get(element.tag) in (Rule.THROUGH, Rule.WRITER)
        element = element.getparent() if is_read else None
    return element


def field_value(field_: Field, writer: "Writer") -> str:
    """What a field shows, or a mark, if its result is not stored."""
    words = "".join(field_.instruction).strip()
    name = words.split(maxsplit=1)[0].upper() if words else ""
    if name == "FORMCHECKBOX":
        return "☒" if _is_checked(field_.form) else "☐"
    if name == "FORMDROPDOWN":
        return _choice(field_.form).strip() or writer.mark(Mark.FIELD)
    if name == "FORMTEXT":
        return writer.mark(Mark.FIELD)
    if name in PAGE_FIELDS and writer.is_edge:
        return ""
    if name == "SYMBOL":
        return _symbol(words) or writer.mark(Mark.SIGN)
    if name == "EQ":
        return writer.mark(Mark.FORMULA)
    if button := BUTTON.match(words):
        return button[1].strip()
    return "" if name in SILENT or field_.has_result else writer.mark(Mark.VALUE)


def _is_checked(form: Any | None) -> bool:
    box = form.find(f"{W}checkBox") if form is not None else None
    if box is None:
        return False
    state = box.find(f"{W}checked")
    return is_on(state if state is not None else box.find(f"{W}default"))


def _choice(form: Any | None) -> str:
    choices = form.find(f"{W}ddList") if form is not None else None
    if choices is None:
        return ""
    entries = [entry.get(f"{W}val", "") for entry in choices.findall(f"{W}listEntry")]
    choice = choices.find(f"{W}result")
    if choice is None:
        choice = choices.find(f"{W}default")
    number = choice.get(f"{W}val", "0") if choice is not None else "0"
    return (
        entries[int(number)] if number.isascii() and number.isdigit() and int(number) < len(entries) else ""
    )


def _symbol(instruction: str) -> str:
    match = SYMBOL_CODE.match(instruction)
    if match is None:
        return ""
    words = match[1]
    code = int(words, 16) if words[:2].lower() == "0x" else int(words) if words.isdigit() else ord(words)
    match = SYMBOL_FONT.search(instruction)
    font = (match[1] or match[2] or "") if match else ""
    charset = SYMBOL_CHARSET.search(instruction)
    if charset is None or is_sign_font(font):
        return sign(code, font)
    if charset[1] == "a":
        return bytes((code & 0xFF,)).decode("cp1252", "ignore")
    return chr(code) if is_character(code) else ""
