"""What a page of a PDF is drawn with: thin lines, pictures and fonts."""

import ctypes
from dataclasses import dataclass, field
from typing import Any

from chiron_workers.documents.pdf_signs import sign_font
from chiron_workers.documents.pdf_text import quick

OBJECTS_MAX = 20_000  # of a page; one with more is a drawing
LINES_MAX = 500
SIGNS_MAX = 500
LINE_HEIGHT_MAX = 2.5  # points
LINE_WIDTH_MIN = 2
FONT_BYTES_MAX = 200
PICTURE_SIDE_MIN = 20  # points; smaller ones are ornaments


@dataclass(frozen=True, slots=True)
class Line:
    """A thin line or bar that runs across: where it begins and ends, and how high its middle stands."""

    start_x: float
    end_x: float
    y: float


@dataclass(slots=True)
class PageObjects:
    """What is of interest of a page's objects; empty where there are more than 20,000.

    Args:
        fonts: The names of the fonts by their addresses.
        signs: Pieces of text in fonts of signs: PDFium's handle, where it begins, and how high its middle stands.
    """

    count: int
    lines: list[Line] = field(default_factory=list)
    fonts: dict[int, str] = field(default_factory=dict)
    signs: list[tuple[Any, float, float]] = field(default_factory=list)
    pictures: int = 0


def page_objects(page: Any, raw: Any) -> PageObjects:
    """Look through the objects of a page once."""
    objects = PageObjects(raw.FPDFPage_CountObjects(page.raw))
    handle = ctypes.cast(page.raw, ctypes.c_void_p)
    start_x, bottom, end_x, top = (ctypes.c_float() for _ in range(4))
    bounds = ctypes.byref(start_x), ctypes.byref(bottom), ctypes.byref(end_x), ctypes.byref(top)
    sign_fonts = set[int]()
    object_at, type_of = quick("FPDFPage_GetObject", ctypes.c_void_p), quick("FPDFPageObj_GetType")
    font_of, bounds_of = quick("FPDFTextObj_GetFont", ctypes.c_void_p), quick("FPDFPageObj_GetBounds")
    for index in range(objects.count if objects.count <= OBJECTS_MAX else 0):
        shape = ctypes.c_void_p(object_at(handle, index))
        kind = type_of(shape)
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            font = font_of(shape)
            if font and font not in objects.fonts:
                objects.fonts[font] = _font_name(ctypes.c_void_p(font))
                if sign_font(objects.fonts[font]):
                    sign_fonts.add(font)
            if font in sign_fonts and len(objects.signs) < SIGNS_MAX and bounds_of(shape, *bounds):
                objects.signs.append((shape, start_x.value, (top.value + bottom.value) / 2))
        elif kind in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE):
            if not bounds_of(shape, *bounds):
                continue
            height, width = top.value - bottom.value, end_x.value - start_x.value
            if kind == raw.FPDF_PAGEOBJ_IMAGE:
                objects.pictures += min(height, width) >= PICTURE_SIDE_MIN
            elif (
                height <= LINE_HEIGHT_MAX
                and width >= max(LINE_WIDTH_MIN, 2 * height)
                and len(objects.lines) < LINES_MAX
            ):
                objects.lines.append(Line(start_x.value, end_x.value, (top.value + bottom.value) / 2))
    return objects


def _font_name(font: Any) -> str:
    buffer = ctypes.create_string_buffer(FONT_BYTES_MAX)
    size = quick("FPDFFont_GetBaseFontName", ctypes.c_size_t)(font, buffer, ctypes.c_size_t(FONT_BYTES_MAX))
    return buffer.value.decode("utf-8", "replace") if 0 < size <= FONT_BYTES_MAX else ""
