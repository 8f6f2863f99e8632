"""Form fields of a PDF and what was written on its pages afterwards."""

import ctypes
import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chiron_workers.documents.document import one_line
from chiron_workers.documents.omissions import Mark, Omissions

ANNOTATIONS_MAX = 2_000  # of a page
BYTES_MAX = 100_000  # of one value
HIDDEN_FLAGS = 0x02 | 0x20  # hidden, and not shown on a screen: ISO 32000-1, 12.5.3
TAG = re.compile(r"<[^<>]*>")
PASSWORD = 1 << 13  # of a text field: ISO 32000-1, 12.7.4.3

# What becomes of annotations by their subtype. READ ones have words of the page. A name is that of the list of what is left out.
# Of those with neither the words are on the page, or there are none.
READ, NOTHING = "read", ""
COMMENT, ATTACHMENT = "comment", "attached file"
SUBTYPES = {
    "UNKNOWN": Mark.UNKNOWN.value, "TEXT": COMMENT, "LINK": NOTHING, "FREETEXT": READ, "LINE": Mark.DRAWING.value,
    "SQUARE": Mark.DRAWING.value, "CIRCLE": Mark.DRAWING.value, "POLYGON": Mark.DRAWING.value,
    "POLYLINE": Mark.DRAWING.value, "HIGHLIGHT": NOTHING, "UNDERLINE": NOTHING, "SQUIGGLY": NOTHING,
    "STRIKEOUT": "passage that is marked as deleted", "STAMP": READ, "CARET": COMMENT,
    "INK": Mark.DRAWING.value, "POPUP": NOTHING,
    "FILEATTACHMENT": ATTACHMENT, "SOUND": Mark.OBJECT.value, "MOVIE": Mark.OBJECT.value, "WIDGET": READ,
    "SCREEN": Mark.OBJECT.value, "PRINTERMARK": NOTHING, "TRAPNET": NOTHING, "WATERMARK": READ, "THREED": Mark.OBJECT.value,
    "RICHMEDIA": Mark.OBJECT.value, "XFAWIDGET": Mark.FIELD.value, "REDACT": "passage that is marked for redaction",
}  # fmt: skip
PREFIXES = {"FREETEXT": "[Text on the page]", "STAMP": "[Stamp]", "WATERMARK": "[Watermark]"}


@contextmanager
def form_of(pdf: Any) -> Iterator[Any]:
    """PDFium's handle of the form, None where a document has none. Open it before any page."""
    if pdf.get_formtype():
        pdf.init_forms()
    yield pdf.formenv.raw if pdf.formenv is not None else None


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
    rich_words = one_line(html.unescape(TAG.sub(" ", _string(annotation, "RC", raw))))
    return rich_words or _string(annotation, "Name", raw)


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
    value = _utf16(raw.FPDFAnnot_GetFormFieldValue, form, annotation).strip()
    return f"[Form field {name}] {value}" if value else ""


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
