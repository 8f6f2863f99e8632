"""The lines of a page of a PDF in the order in which they are read: columns one after the other, headings apart."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

from chiron_workers.documents.document import Block
from chiron_workers.documents.pdf_columns import gutters
from chiron_workers.documents.pdf_text import Glyph, PageText

LINE = re.compile("[^\r\n\ufffe]+\ufffe?")
HYPHEN = "\ufffe"
HEADING_SIZE = 1.15  # times that of most letters of the page
HEADING_WEIGHT = 1.4
HEADING_PITCH = 1.8  # times the size, from line to line
HEADING_CHARS_MAX = 200
BODY_CHARS_MIN, BODY_LINES_MIN = 50, 3
SHORT_CHARS_MAX = 80  # of a heading that looks like its text
PROSE_CHARS_MIN = 40
GAP_MIN = 1.6  # times the usual distance of lines
STOPS = frozenset(".,;:!?…-–—。")
ENDS = frozenset(".!?:。")
SPACE_MIN = 0.4  # times the size of the letters beside it
GUTTER_MIN = 0.5  # times the size of the letters behind it
EDGE_STEPS_MIN = 3  # between rows of a page, of which one may be an edge
RETURNS_MIN = 2  # from a column to one before it
PROSE_LENGTHS = (
    10,
    18,
)  # characters of a line in a column, if lines begin in the midst of a sentence, and if not
FULL_SHARE, GOING_ON_SHARE = 0.6, 0.3
SPAN = -1  # the column of a line that runs over several
EDGE = -2  # and of one at the head or the foot of the page, away from the columns


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a part of it in one column.

    Args:
        parts: The places of its text where it begins and ends, and whether there is a space before: it goes on behind what
            stands high or low, and behind a gap in a table.
        column: From 0 on; SPAN if it runs over several.
    """

    parts: tuple[tuple[int, int, bool], ...]
    first: Glyph | None
    last: Glyph | None
    column: int = SPAN
    weight: int = 0

    @property
    def start(self) -> int:
        """The place of its first character."""
        return self.parts[0][0]

    @property
    def end(self) -> int:
        """The place behind its last character."""
        return self.parts[-1][1]


def blocks_of(page: PageText, pieces: Sequence[str]) -> Iterator[Block]:
    """The text of a page as blocks, with `pieces` in place of its letters: headings are blocks of their own."""
    lines = _ordered(page, list(_joined(page, _lines(page))))
    texts = [
        _end_of_column(_text(line, pieces)) if line.column != SPAN else _text(line, pieces) for line in lines
    ]
    kept_lines = [(line, text) for line, text in zip(lines, texts, strict=True) if text.strip()]
    yield from _blocks(page, [line for line, _ in kept_lines], [text for _, text in kept_lines])


def _lines(page: PageText) -> Iterator[Line]:
    text = page.text
    for match in LINE.finditer(text):
        words = match[0].strip()
        if words:
            start = match.start() + match[0].index(words)
            end = start + len(words)
            if page.is_outside(start) and page.is_outside(end - 1):
                page.lines_outside += 1
                continue
            yield Line(((start, end, False),), page.glyph(start), page.glyph(end - 1))


def _joined(page: PageText, lines: Iterator[Line]) -> Iterator[Line]:
    """The lines without the breaks that PDFium makes behind what stands high or low, and in the rows of tables."""
    before: Line | None = None
    for line in lines:
        if before is not None and _goes_on(before.last, line.first):
            is_apart = " " in page.text[before.end : line.start] or _is_apart(before.last, line.first)
            parts = ((line.start, line.end, is_apart),)
            before = replace(before, parts=before.parts + parts, last=line.last)
            continue
        if before is not None:
            yield before
        before = line
    if before is not None:
        yield before


def _goes_on(last: Glyph | None, first: Glyph | None) -> bool:
    if last is None or first is None:
        return False
    size, gap = max(last.size, first.size), first.start_x - last.end_x
    if abs(first.y - last.y) <= 0.05 * size:
        return gap >= -0.3 * size
    return abs(first.y - last.y) <= 0.6 * size and -0.3 * size <= gap <= 1.2 * size


def _is_apart(last: Glyph | None, first: Glyph | None) -> bool:
    return (
        last is not None
        and first is not None
        and first.start_x - last.end_x > SPACE_MIN * max(last.size, first.size)
    )


def _text(line: Line, pieces: Sequence[str]) -> str:
    return "".join(
        (" " if is_apart else "") + "".join(pieces[start:end]) for start, end, is_apart in line.parts
    )


def _end_of_column(text: str) -> str:
    """The text of a line in a column that was read across, where PDFium did not know that a word goes on."""
    return text[:-1] + HYPHEN if text[-1:] == "-" and text[-2:-1].isalpha() else text


def _ordered(page: PageText, lines: list[Line]) -> list[Line]:
    """The lines in the order of reading. Unless columns are read across, that is the order in which they are."""
    edges = gutters(page)
    # A table in a column has gaps of its own, so the gutter that most rows have is tried alone too.
    for some_edges in (edges, edges[:1]) if len(edges) > 1 else (edges,) if edges else ():
        sorted_edges = sorted(some_edges)
        segments = [segment for line in lines for segment in _cut(page, line, sorted_edges)]
        if _is_read_across(segments) and _is_prose(page, segments, len(sorted_edges) + 1):
            return list(_by_columns(segments))
    return lines


def _by_columns(segments: list[Line]) -> Iterator[Line]:
    """The lines between those that run over several columns, column by column."""
    band = list[Line]()
    for segment in _with_edges(segments):
        if segment.column < 0:
            yield from sorted(band, key=lambda line: line.column)
            band.clear()
            yield segment
        else:
            band.append(segment)
    yield from sorted(band, key=lambda line: line.column)


def _with_edges(segments: list[Line]) -> list[Line]:
    """The lines, with those of the first and the last row as edges where they stand away from the others."""
    heights = sorted({round(segment.first.y) for segment in segments if segment.first}, reverse=True)
    steps = [before - after for before, after in pairwise(heights)]
    if len(steps) < EDGE_STEPS_MIN:
        return segments
    far = GAP_MIN * median(steps)
    edges = {height for height, step in ((heights[0], steps[0]), (heights[-1], steps[-1])) if step > far}
    return [
        replace(segment, column=EDGE) if segment.first and round(segment.first.y) in edges else segment
        for segment in segments
    ]


def _cut(page: PageText, line: Line, edges: Sequence[float]) -> Iterator[Line]:
    """The parts of a line by columns; the line itself if its words run over a gutter."""
    if line.first is None or line.last is None:
        yield line
        return
    column = bisect_left(edges, line.first.start_x)
    if column == bisect_left(edges, line.last.end_x):
        yield replace(line, column=column)
        return
    places = [
        place for start, end, _ in line.parts for place in range(start, end) if not page.text[place].isspace()
    ]
    starts = [0]
    for edge in edges:
        at = bisect_left(places, edge, key=lambda place: page.box(place)[0])
        if at in (0, len(places)) or at == starts[-1]:
            continue
        if page.box(places[at])[0] - page.box(places[at - 1])[1] >= GUTTER_MIN * page.size(places[at]) > 0:
            starts.append(at)
    for start, stop in pairwise((*starts, len(places))):
        yield _segment(page, line, places[start], places[stop - 1], edges)


def _segment(page: PageText, line: Line, first: int, last: int, edges: Sequence[float]) -> Line:
    parts = tuple(
        (max(low, first), min(high, last + 1), is_apart and low > first)
        for low, high, is_apart in line.parts
        if low <= last and high > first
    )
    columns = bisect_left(edges, page.box(first)[0]), bisect_left(edges, page.box(last)[1])
    return Line(parts, page.glyph(first), page.glyph(last), columns[0] if columns[0] == columns[1] else SPAN)


def _is_read_across(segments: list[Line]) -> bool:
    """Whether a line of one column follows one of a later column again and again."""
    return sum(SPAN < after.column < before.column for before, after in pairwise(segments)) >= RETURNS_MIN


def _is_prose(page: PageText, segments: list[Line], columns: int) -> bool:
    """Whether columns hold lines of text rather than the cells of a table: lines are long and fill their column, or they begin in
    the midst of a sentence."""
    for column in range(columns):
        lines = [segment for segment in segments if segment.column == column]
        if len(lines) < 2:
            return False
        length = median(line.end - line.start for line in lines)
        widths = [line.last.end_x - line.first.start_x for line in lines if line.first and line.last]
        is_full = median(widths) >= FULL_SHARE * max(widths)
        going_on = sum(page.text[line.start].islower() for line in lines)
        if not (length >= PROSE_LENGTHS[1] and is_full) and not (
            length >= PROSE_LENGTHS[0] and going_on >= GOING_ON_SHARE * len(lines)
        ):
            return False
    return True


def _blocks(page: PageText, lines: list[Line], texts: list[str]) -> Iterator[Block]:
    headings = _headings(page, lines, texts)
    pitch = _pitch(lines)
    text, is_heading = "", False
    for place, (line, words) in enumerate(zip(lines, texts, strict=True)):
        before = lines[place - 1] if place else None
        is_apart = (
            before is not None
            and (
                headings[place] != headings[place - 1]
                or (before.column == EDGE) != (line.column == EDGE)
                or (is_heading and not _goes_with(before, line))
                or (headings[place] == SHAPE)
                or (not is_heading and _is_far(before, line, pitch) and (
                    # What stands at the top and the foot of the page has no sentence in common with the text.
                    place in (1, len(lines) - 1) or (texts[place - 1][-1] not in STOPS and words[0].isupper())
                ))
                or (before.column != line.column and texts[place - 1][-1:] in ENDS)
            )
        )  # fmt: skip
        if is_apart and not text.endswith(HYPHEN):
            yield Block(text, is_heading)
            text = ""
        is_heading = headings[place] == SET
        if text and not text.endswith(HYPHEN):
            text += " " if is_heading else "\n"
        text += words
    if text:
        yield Block(text, is_heading)


# Why a line is a heading: by its letters, or because it is short and the next one begins a sentence.
NONE, SET, SHAPE = 0, 1, 2


def _headings(page: PageText, lines: list[Line], texts: list[str]) -> list[int]:
    sizes, weights = Counter[float](), Counter[int]()
    line_weights = [page.weight(line.start) for line in lines]
    for line, weight in zip(lines, line_weights, strict=True):
        if line.first is not None:
            sizes[round(line.first.size, 1)] += line.end - line.start
            weights[weight] += line.end - line.start
    if not sizes:
        return [NONE] * len(lines)
    long_lines = [
        (round(line.first.size, 1), weight)
        for line, weight in zip(lines, line_weights, strict=True)
        if line.first is not None and line.end - line.start >= BODY_CHARS_MIN
    ]
    size = _largest_of_body(sizes, Counter(size for size, _ in long_lines))
    body_weight = _largest_of_body(weights, Counter(weight for _, weight in long_lines))
    right = (
        max(line.last.end_x for line in lines if line.last is not None)
        if any(line.last for line in lines)
        else 0
    )
    kinds = list[int]()
    for place, (line, words) in enumerate(zip(lines, texts, strict=True)):
        is_set = _is_set_apart(line, size) or (
            body_weight > 0
            and line_weights[place] >= HEADING_WEIGHT * body_weight
            and page.weight(line.end - 1) >= HEADING_WEIGHT * body_weight
            and words[-1] not in STOPS
        )
        if is_set and _has_words(words):
            kinds.append(SET)
        elif _is_short_heading(place, lines, texts, right, kinds) and _has_words(words):
            kinds.append(SHAPE)
        else:
            kinds.append(NONE)
    return kinds


def _has_words(text: str) -> bool:
    return len(text) <= HEADING_CHARS_MAX and sum(map(str.isalpha, text)) > 1


def _largest_of_body(chars: Counter[Any], long_lines: Counter[Any]) -> Any:
    """The size or weight of most letters of a page, or a larger one in which several lines are long: code is small."""
    sizes = [size for size, lines in long_lines.items() if lines >= BODY_LINES_MIN]
    return max([chars.most_common(1)[0][0], *sizes])


def _is_set_apart(line: Line, size: float) -> bool:
    return all(glyph is not None and glyph.size >= HEADING_SIZE * size for glyph in (line.first, line.last))


def _is_short_heading(
    place: int, lines: list[Line], texts: list[str], right: float, kinds: list[int]
) -> bool:
    """Whether a line ends though the next word had room in it, and the next line begins a sentence."""
    words = texts[place]
    if place + 1 == len(lines) or len(words) > SHORT_CHARS_MAX or words[-1] in STOPS or words[-1] == HYPHEN:
        return False
    after, line, following = texts[place + 1], lines[place], lines[place + 1]
    is_prose = len(after) >= PROSE_CHARS_MIN or (after[-1] in ENDS and after.count(" ") >= 3)
    begins = place == 0 or kinds[-1] or texts[place - 1][-1] in ENDS
    if not (is_prose and begins and after[0].isupper() and (words[0].isupper() or words[0].isdigit())):
        return False
    if line.last is None or following.first is None or following.last is None:
        return False
    letter_width = (following.last.end_x - following.first.start_x) / len(after)
    room = right - line.last.end_x
    return room > (len(after.split(maxsplit=1)[0]) + 1) * letter_width and following.first.y < line.last.y


def _goes_with(before: Line, line: Line) -> bool:
    """Whether two lines are one heading."""
    if before.first is None or line.first is None:
        return False
    size = line.first.size
    return abs(before.first.size - size) < 0.1 * size and before.first.y - line.first.y < HEADING_PITCH * size


def _pitch(lines: list[Line]) -> float:
    steps = [
        before.first.y - line.first.y
        for before, line in pairwise(lines)
        if before.first and line.first and before.first.y > line.first.y
    ]
    return median(steps) if steps else 0


def _is_far(before: Line, line: Line, pitch: float) -> bool:
    """Whether a line stands further below the one before than others do."""
    if not before.first or not line.first or not pitch:
        return False
    return before.first.y - line.first.y > GAP_MIN * pitch
