"""What a page of a PDF is drawn with: thin lines, pictures, drawings, fonts, and text that PDFium has no letters for."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from chiron_workers.documents.pdf_signs import sign_font
from chiron_workers.documents.pdf_text import LOST_LETTER, LostPiece, PageText, quick

OBJECTS_MAX = 20_000  # of a page; one with more is a drawing
DEPTH_MAX = 5  # of forms within forms, as PDF calls what is drawn again and again
LINES_MAX = 500
LINE_HEIGHT_MAX = 2.5  # points
LINE_WIDTH_MIN = 2
FONT_BYTES_MAX = 200
PICTURE_SIDE_MIN = 20  # points; smaller ones are ornaments
SEGMENTS_MIN = 6  # of a path that is neither a line nor a rectangle
PATHS_MIN = 5  # of a drawing; fewer are ornaments
STRIDE = 4  # characters; a piece of text with fewer may lie between two that are looked at
EMPTY_BYTES = 2  # of a text of PDFium's that has no letter
SIDE_MIN = 0.1  # points; what is smaller is white space

Matrix = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A thin line or bar that runs across: where it begins and ends, and how high its middle stands."""

    start_x: float
    end_x: float
    y: float


@dataclass(frozen=True, slots=True)
class Box:
    """The bounds of an object on its page, in points."""

    start_x: float
    bottom: float
    end_x: float
    top: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.end_x - self.start_x

    @property
    def height(self) -> float:
        """From the foot to the top."""
        return self.top - self.bottom

    @property
    def middle(self) -> float:
        """How high its middle stands."""
        return (self.top + self.bottom) / 2


@dataclass(slots=True)
class PageObjects:
    """What is of interest of a page's objects; empty where there are more than 20,000.

    Args:
        fonts: The names of the fonts by their addresses.
        texts: The pieces of text: PDFium's handle, the address of the font, and the form that they stand in.
        paths: How many paths are drawn that are no lines and no rectangles.
    """

    count: int
    lines: list[Line] = field(default_factory=list)
    fonts: dict[int, str] = field(default_factory=dict)
    texts: list[tuple[int, int, Matrix | None]] = field(default_factory=list)
    pictures: int = 0
    paths: int = 0

    @property
    def has_drawing(self) -> bool:
        """Whether the page shows more than words and ornaments."""
        return self.count > OBJECTS_MAX or self.paths >= PATHS_MIN


def page_objects(page: Any, raw: Any) -> PageObjects:
    """Look through the objects of a page once, and of the forms that it is drawn with."""
    objects = PageObjects(raw.FPDFPage_CountObjects(page.raw))
    if objects.count > OBJECTS_MAX:
        return objects
    font_of = quick("FPDFTextObj_GetFont", ctypes.c_void_p)
    for handle, kind, matrix in _shapes(page, objects.count, raw):
        shape = ctypes.c_void_p(handle)
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            font = font_of(shape) or 0
            if font and font not in objects.fonts:
                objects.fonts[font] = _font_name(ctypes.c_void_p(font))
            objects.texts.append((handle, font, matrix))
        elif kind == raw.FPDF_PAGEOBJ_SHADING:
            objects.paths += PATHS_MIN
        elif box := _box(shape, matrix):
            if kind == raw.FPDF_PAGEOBJ_IMAGE:
                objects.pictures += min(box.height, box.width) >= PICTURE_SIDE_MIN
            elif box.height <= LINE_HEIGHT_MAX and box.width >= max(LINE_WIDTH_MIN, 2 * box.height):
                if len(objects.lines) < LINES_MAX:
                    objects.lines.append(Line(box.start_x, box.end_x, box.middle))
            elif quick("FPDFPath_CountSegments")(shape) >= SEGMENTS_MIN:
                objects.paths += 1
    return objects


def lost_pieces(objects: PageObjects, text: PageText) -> Iterator[LostPiece]:
    """The pieces of text that PDFium leaves out of a page's text, as it has a letter for none of their glyphs.

    White space is not lost: it has no bounds. A font that is not embedded has no bounds for any glyph; its pieces count as lost
    if it has no letter on the page.
    """
    handles = text.text_objects(1 if LOST_LETTER in text.text else STRIDE)
    text_of = quick("FPDFTextObj_GetText", ctypes.c_ulong)
    is_embedded = quick("FPDFFont_GetIsEmbedded")
    empty_texts, lettered_fonts = [], set[int]()
    for piece in objects.texts:
        handle, font, _ = piece
        no_buffer = ctypes.c_ulong(0)
        if handle in handles or text_of(ctypes.c_void_p(handle), text.words, None, no_buffer) > EMPTY_BYTES:
            lettered_fonts.add(font)
        else:
            empty_texts.append(piece)
    for handle, font, matrix in empty_texts:
        box = _box(ctypes.c_void_p(handle), matrix)
        if box and (
            (box.width > SIDE_MIN and box.height > SIDE_MIN)
            or sign_font(objects.fonts.get(font, ""))
            or (font and font not in lettered_fonts and not is_embedded(ctypes.c_void_p(font)))
        ):
            yield LostPiece(box.start_x, box.middle)


def _shapes(page: Any, count: int, raw: Any) -> Iterator[tuple[int, int, Matrix | None]]:
    """The handle and kind of each object, with the matrix of the form that it stands in; forms are opened."""
    object_at, type_of = quick("FPDFPage_GetObject", ctypes.c_void_p), quick("FPDFPageObj_GetType")
    count_in, object_in = quick("FPDFFormObj_CountObjects"), quick("FPDFFormObj_GetObject", ctypes.c_void_p)
    handle = ctypes.cast(page.raw, ctypes.c_void_p)
    stack: list[tuple[int, Matrix | None, int]] = [
        (object_at(handle, index), None, 0) for index in reversed(range(count))
    ]
    shape_count = 0
    while stack and shape_count <= OBJECTS_MAX:
        shape_count += 1
        shape, matrix, depth = stack.pop()
        kind = type_of(ctypes.c_void_p(shape))
        if kind != raw.FPDF_PAGEOBJ_FORM:
            yield shape, kind, matrix
        elif depth < DEPTH_MAX:
            matrix_within = _combined(_matrix(shape, raw), matrix)
            children = min(count_in(ctypes.c_void_p(shape)), OBJECTS_MAX)
            stack += [
                (object_in(ctypes.c_void_p(shape), ctypes.c_ulong(index)), matrix_within, depth + 1)
                for index in reversed(range(children))
            ]


def _matrix(shape: int, raw: Any) -> Matrix:
    matrix = raw.FS_MATRIX()
    quick("FPDFPageObj_GetMatrix")(ctypes.c_void_p(shape), ctypes.byref(matrix))
    return matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f


def _combined(inner: Matrix, outer: Matrix | None) -> Matrix:
    """The one matrix after the other: ISO 32000-1, 8.3.4."""
    if outer is None:
        return inner
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return (
        *(a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j),
        *(e * g + f * i + k, e * h + f * j + m),
    )


def _box(shape: Any, matrix: Matrix | None) -> Box | None:
    start_x, bottom, end_x, top = (ctypes.c_float() for _ in range(4))
    bounds = ctypes.byref(start_x), ctypes.byref(bottom), ctypes.byref(end_x), ctypes.byref(top)
    if not quick("FPDFPageObj_GetBounds")(shape, *bounds):
        return None
    if matrix is None:
        return Box(start_x.value, bottom.value, end_x.value, top.value)
    a, b, c, d, e, f = matrix
    corners = [(x, y) for x in (start_x.value, end_x.value) for y in (bottom.value, top.value)]
    xs = [a * x + c * y + e for x, y in corners]
    ys = [b * x + d * y + f for x, y in corners]
    return Box(min(xs), min(ys), max(xs), max(ys))


def _font_name(font: Any) -> str:
    buffer = ctypes.create_string_buffer(FONT_BYTES_MAX)
    size = quick("FPDFFont_GetBaseFontName", ctypes.c_size_t)(font, buffer, ctypes.c_size_t(FONT_BYTES_MAX))
    return buffer.value.decode("utf-8", "replace") if 0 < size <= FONT_BYTES_MAX else ""
