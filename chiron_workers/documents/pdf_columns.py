"""The gutters between the columns of a page of a PDF."""

import ctypes
from collections.abc import Iterator

from chiron_workers.documents.pdf_text import PageText, quick

RECTANGLES_MAX = 5_000  # of a page; one with more is a drawing
GUTTERS_MAX = 3
ROWS_MIN = 3  # that leave a gutter free
WIDTH_MIN = 5  # points
# A gap in a row is wider than one between words, as a share of the letters' height.
GAP_SHARE = 0.7
ROW_SHARE = 0.8

Rectangle = tuple[float, float, float, float]  # start_x, bottom, end_x, top


def gutters(page: PageText) -> list[float]:
    """The middles of the gaps that at least three rows of a page have at the same place, the most common one first."""
    rows = list(_rows(_rectangles(page)))
    gaps = [gap for row in rows for gap in _gaps(row)]
    middles = list[float]()
    while len(middles) < GUTTERS_MAX and len(gaps) >= ROWS_MIN:
        start, end, count = _common(gaps)
        if count < ROWS_MIN or end - start < WIDTH_MIN:
            break
        middles.append((start + end) / 2)
        gaps = [gap for gap in gaps if gap[1] <= start or gap[0] >= end]
    return middles


def _rectangles(page: PageText) -> list[Rectangle]:
    words = page.words
    count = quick("FPDFText_CountRects")(words, 0, -1)
    if count > RECTANGLES_MAX or count < 2 * ROWS_MIN:
        return []
    start_x, top, end_x, bottom = (ctypes.c_double() for _ in range(4))
    bounds = ctypes.byref(start_x), ctypes.byref(top), ctypes.byref(end_x), ctypes.byref(bottom)
    rectangle_at = quick("FPDFText_GetRect")
    rectangles = []
    for index in range(count):
        if rectangle_at(words, index, *bounds) and end_x.value > start_x.value:
            rectangles.append((start_x.value, bottom.value, end_x.value, top.value))
    return rectangles


def _rows(rectangles: list[Rectangle]) -> Iterator[list[Rectangle]]:
    """The rectangles whose middles are at about the same height, each row from left to right."""
    row: list[Rectangle] = []
    for rectangle in sorted(rectangles, key=lambda box: -(box[1] + box[3])):
        # Columns need not have their lines at the same heights.
        if row and _middle(row[0]) - _middle(rectangle) > ROW_SHARE * (row[0][3] - row[0][1]):
            yield sorted(row)
            row = []
        row.append(rectangle)
    if row:
        yield sorted(row)


def _middle(rectangle: Rectangle) -> float:
    return (rectangle[1] + rectangle[3]) / 2


def _gaps(row: list[Rectangle]) -> Iterator[tuple[float, float]]:
    end = row[0][2]
    for start_x, bottom, end_x, top in row[1:]:
        if start_x - end >= max(WIDTH_MIN, GAP_SHARE * (top - bottom)):
            yield end, start_x
        end = max(end, end_x)


def _common(gaps: list[tuple[float, float]]) -> tuple[float, float, int]:
    """Where most gaps overlap, and how many do."""
    edges = sorted(
        [(start, 1) for start, _ in gaps] + [(end, -1) for _, end in gaps],
        key=lambda edge: (edge[0], edge[1]),
    )
    best, count, place = (0.0, 0.0, 0), 0, 0
    for place, (at, step) in enumerate(edges):
        count += step
        if step > 0 and count > best[2]:
            best = at, edges[place + 1][0], count
    return best
