"""Form fields of a PDF and what was written on its pages afterwards."""

import ctypes
import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chiron_workers.documents.document import one_line
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.pdf_objects import Line

ANNOTATIONS_MAX = 2_000  # of a page
BYTES_MAX = 100_000  # of one value
ROWS_MAX = 500  # of one annotation
ROW_STEP = 3  # points, less than half of small letters
OPTIONS_MAX = 1_000  # of one list
SHOWN = re.compile(r"(?:\([^)]|<[0-9A-Fa-f]).*?T[jJ]", re.DOTALL)  # ISO 32000-1, 9.4.3
HIDDEN_FLAGS = 0x02 | 0x20  # hidden, and not shown on a screen: ISO 32000-1, 12.5.3
TAG = re.compile(r"<[^<>]*>")
PASSWORD = 1 << 13  # of a text field: ISO 32000-1, 12.7.4.3

# What becomes of annotations by their subtype. READ ones have words of the page. A name is that of the list of what is left out.
# Of those with neither the words are on the page, or there are none.
READ, NOTHING = "read", ""
COMMENT, ATTACHMENT = "comment", "attached file"
DELETED = "passage that is marked as deleted"
SUBTYPES = {
    "UNKNOWN": Mark.UNKNOWN.value, "TEXT": COMMENT, "LINK": NOTHING, "FREETEXT": READ, "LINE": Mark.DRAWING.value,
    "SQUARE": Mark.DRAWING.value, "CIRCLE": Mark.DRAWING.value, "POLYGON": Mark.DRAWING.value,
    "POLYLINE": Mark.DRAWING.value, "HIGHLIGHT": NOTHING, "UNDERLINE": NOTHING, "SQUIGGLY": NOTHING,
    "STRIKEOUT": DELETED, "STAMP": READ, "CARET": COMMENT,
    "INK": Mark.DRAWING.value, "POPUP": NOTHING,
    "FILEATTACHMENT": ATTACHMENT, "SOUND": Mark.OBJECT.value, "MOVIE": Mark.OBJECT.value, "WIDGET": READ,
    "SCREEN": Mark.OBJECT.value, "PRINTERMARK": NOTHING, "TRAPNET": NOTHING, "WATERMARK": READ, "THREED": Mark.OBJECT.value,
    "RICHMEDIA": Mark.OBJECT.value, "XFAWIDGET": Mark.FIELD.value, "REDACT": DELETED,
}  # fmt: skip
PREFIXES = {"FREETEXT": "[Text on the page]", "STAMP": "[Stamp]", "WATERMARK": "[Watermark]"}


@contextmanager
def form_of(pdf: Any) -> Iterator[Any]:
    """PDFium's handle of the form, None where a document has none. Open it before any page."""
    if pdf.get_formtype():
        pdf.init_forms()
    yield pdf.formenv.raw if pdf.formenv is not None else None


def deleting_lines(page: Any, raw: Any) -> Iterator[Line]:
    """A line through each row of words that an annotation strikes out or marks for redaction."""
    kinds = (raw.FPDF_ANNOT_STRIKEOUT, raw.FPDF_ANNOT_REDACT)
    for index in range(min(raw.FPDFPage_GetAnnotCount(page.raw), ANNOTATIONS_MAX)):
        annotation = raw.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            if (
                raw.FPDFAnnot_GetSubtype(annotation) not in kinds
                or raw.FPDFAnnot_GetFlags(annotation) & HIDDEN_FLAGS
            ):
                continue
            if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_REDACT:
                yield from _through_rectangle(annotation, raw)
            quad = raw.FS_QUADPOINTSF()
            for row in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), ROWS_MAX)):
                if raw.FPDFAnnot_GetAttachmentPoints(annotation, row, quad):
                    xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
                    yield Line(min(xs), max(xs), (min(ys) + max(ys)) / 2)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)


def _through_rectangle(annotation: Any, raw: Any) -> Iterator[Line]:
    """Lines so near to each other that one runs through each row of words. PDFium gives no rows of a redaction."""
    box = raw.FS_RECTF()
    if raw.FPDFAnnot_GetRect(annotation, box):
        rows = min(int((box.top - box.bottom) / ROW_STEP), ROWS_MAX)
        yield from (Line(box.left, box.right, box.bottom + ROW_STEP * row) for row in range(1, rows + 1))


def annotation_texts(page: Any, form: Any, omissions: Omissions, raw: Any, *, place: str) -> Iterator[str]:
    """The values of a page's form fields and the texts that were written on it, each as such."""
    count = min(raw.FPDFPage_GetAnnotCount(page.raw), ANNOTATIONS_MAX)
    names = {getattr(raw, f"FPDF_ANNOT_{name}"): name for name in SUBTYPES} if count else {}
    texts = dict[str, None]()
    for index in range(count):
        annotation = raw.FPDFPage_GetAnnot(page.raw, index)
        if not annotation:
            continue
        try:
            name = names.get(raw.FPDFAnnot_GetSubtype(annotation), "UNKNOWN")
            treatment = SUBTYPES[name]
            if raw.FPDFAnnot_GetFlags(annotation) & HIDDEN_FLAGS and treatment is not NOTHING:
                omissions.add("hidden form field" if name == "WIDGET" else "hidden annotation", place=place)
            elif name == "WIDGET":
                texts[_field(annotation, form, omissions, raw, place)] = None
            elif treatment is READ:
                words = _words(annotation, raw)
                texts[f"{PREFIXES[name]} {words}" if words else ""] = None
                if not words:
                    omissions.add(Mark.DRAWING.value, place=place)
            elif treatment is not NOTHING:
                omissions.add(treatment, place=place)
            elif _string(annotation, "Contents", raw) and name not in ("LINK", "POPUP"):
                omissions.add(COMMENT, place=place)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    yield from filter(None, texts)


def _words(annotation: Any, raw: Any) -> str:
    """The words of an annotation: plain, else those of its rich text, else the name of a stamp."""
    if words := _string(annotation, "Contents", raw):
        return words
    return _rich_words(annotation, "RC", raw) or _string(annotation, "Name", raw)


def _rich_words(annotation: Any, key: str, raw: Any) -> str:
    return one_line(html.unescape(TAG.sub(" ", _string(annotation, key, raw))))


def _field(annotation: Any, form: Any, omissions: Omissions, raw: Any, place: str) -> str:
    """A form field with its value; empty for one without, and for a button."""
    if form is None:
        omissions.add(Mark.FIELD.value, place=place)
        return ""
    kind = raw.FPDFAnnot_GetFormFieldType(form, annotation)
    if kind == raw.FPDF_FORMFIELD_PUSHBUTTON:
        return ""
    if kind == raw.FPDF_FORMFIELD_SIGNATURE:
        omissions.add("signature", place=place)
        return ""
    name = one_line(
        _utf16(raw.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
        or _utf16(raw.FPDFAnnot_GetFormFieldName, form, annotation)
    )
    if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        is_checked = bool(raw.FPDFAnnot_IsChecked(form, annotation))
        if kind == raw.FPDF_FORMFIELD_CHECKBOX:
            return f"[Form field {name}] {'☒' if is_checked else '☐'}"
        choice = one_line(_utf16(raw.FPDFAnnot_GetFormFieldExportValue, form, annotation))
        return f"[Form field {name}] {choice or '☒'}" if is_checked else ""
    if kind == raw.FPDF_FORMFIELD_TEXTFIELD and raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & PASSWORD:
        omissions.add("password field", place=place)
        return ""
    value = (
        _choices(annotation, form, raw) or _utf16(raw.FPDFAnnot_GetFormFieldValue, form, annotation).strip()
    )
    value = value or _rich_words(annotation, "RV", raw)
    if not value and _shows_words(annotation, raw):
        omissions.add(Mark.FIELD.value, place=place)
    return f"[Form field {name}] {value}" if value else ""


def _choices(annotation: Any, form: Any, raw: Any) -> str:
    """What a list shows as chosen, which may be other words than its value; empty for a field without a list."""
    count = min(raw.FPDFAnnot_GetOptionCount(form, annotation), OPTIONS_MAX)
    places = (index for index in range(count) if raw.FPDFAnnot_IsOptionSelected(form, annotation, index))
    labels = (
        _utf16(
            lambda *args, at=index: raw.FPDFAnnot_GetOptionLabel(*args[:2], at, *args[2:]), form, annotation
        )
        for index in places
    )
    return "; ".join(filter(None, map(one_line, labels)))


def _shows_words(annotation: Any, raw: Any) -> bool:
    """Whether the picture of a field without a value shows words."""
    size = raw.FPDFAnnot_GetAP(annotation, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0)
    if not 2 < size <= BYTES_MAX:
        return bool(size > BYTES_MAX)
    buffer = ctypes.create_string_buffer(size)
    wide = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    raw.FPDFAnnot_GetAP(annotation, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, wide, size)
    return bool(SHOWN.search(buffer.raw.decode("utf-16-le", "replace")))


def _string(annotation: Any, key: str, raw: Any) -> str:
    name = key.encode()
    size = raw.FPDFAnnot_GetStringValue(annotation, name, None, 0)
    if not 2 < size <= BYTES_MAX:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAnnot_GetStringValue(annotation, name, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").strip()


def _utf16(read: Any, form: Any, annotation: Any) -> str:
    size = read(form, annotation, None, 0)
    if not 2 < size <= BYTES_MAX:
        return ""
    buffer = ctypes.create_string_buffer(size)
    read(form, annotation, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")
