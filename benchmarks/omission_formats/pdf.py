"""PDFs: annotations of each kind, on a page with some lines of text."""

from collections.abc import Sequence
from random import Random

from chiron_workers.documents.document import Document
from chiron_workers.documents.omissions import Mark
from chiron_workers.documents.pdf import read_pdf
from chiron_workers.documents.pdf_annotations import COMMENT, NOTHING, READ, SUBTYPES

from .trial import LETTERS, Format, Probe

FONT = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
WIDGET = "Widget"
# As PDF writes the subtypes, by PDFium's names.
NAMES = {
    "TEXT": "Text", "LINK": "Link", "FREETEXT": "FreeText", "LINE": "Line", "SQUARE": "Square", "CIRCLE": "Circle",
    "POLYGON": "Polygon", "POLYLINE": "PolyLine", "HIGHLIGHT": "Highlight", "UNDERLINE": "Underline",
    "SQUIGGLY": "Squiggly", "STRIKEOUT": "StrikeOut", "STAMP": "Stamp", "CARET": "Caret", "INK": "Ink", "POPUP": "Popup",
    "FILEATTACHMENT": "FileAttachment", "SOUND": "Sound", "MOVIE": "Movie", "WIDGET": WIDGET, "SCREEN": "Screen",
    "PRINTERMARK": "PrinterMark", "TRAPNET": "TrapNet", "WATERMARK": "Watermark", "THREED": "3D", "RICHMEDIA": "RichMedia",
    "REDACT": "Redact",
}  # fmt: skip
BY_NAME = {name: SUBTYPES[key] for key, name in NAMES.items()}
WITHOUT_WORDS = {
    "Link",
    "Popup",
}  # their words are on the page, or those of the annotation that they belong to


def build(probes: Sequence[Probe], chance: Random) -> bytes:
    """A page with an annotation for each probe."""
    content = (
        f"BT /F1 12 Tf 72 700 Td (The harbour of {chance.randint(1900, 2020)} has quays for ships.) Tj ET"
    )
    notes = [_annotation(probe, 700 - 5 * place) for place, probe in enumerate(probes)]
    references = " ".join(f"{6 + place} 0 R" for place in range(len(notes)))
    fields = " ".join(f"{6 + place} 0 R" for place, probe in enumerate(probes) if probe.element == WIDGET)
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[{fields}]>>>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Annots[{references}]"
        "/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(content)}>>stream\n{content}\nendstream",
        FONT,
        *notes,
    ]
    parts = "".join(f"{number} 0 obj\n{part}\nendobj\n" for number, part in enumerate(objects, 1))
    return f"%PDF-1.7\n{parts}trailer <</Root 1 0 R/Size {len(objects) + 1}>>\n%%EOF\n".encode()


def _annotation(probe: Probe, height: int) -> str:
    words = f"/FT/Tx/T(place)/V({probe.words})" if probe.element == WIDGET else f"/Contents({probe.words})"
    return f"<</Type/Annot/Subtype/{probe.element}{words}/Rect[72 {height} 90 {height + 4}]>>"


def kind_of(element: str) -> str:
    """Under which kind an element is listed."""
    treatment = BY_NAME.get(element, Mark.UNKNOWN.value)
    return COMMENT if treatment == NOTHING else "" if treatment == READ else treatment


def _read(data: bytes) -> Document:
    return read_pdf(data, name="harbour")


def _unknown(chance: Random) -> str:
    return "".join(chance.choices(LETTERS, k=9)).title()


FORMAT = Format("PDF", tuple(sorted(set(BY_NAME) - WITHOUT_WORDS)), build, _read, _unknown, kind_of)
