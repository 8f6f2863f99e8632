"""What a reader of a page sees around a quote: section, headings, head and notes of a table, both ends of the page."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, islice, pairwise, takewhile, zip_longest
from typing import Any, Self

from chiron_workers.evidence.quotes.context import CELL_BAR, HEADING_CHARS_MAX, LEADS, STOPS, is_running
from chiron_workers.evidence.quotes.leading_marks import begins_item

WINDOW_CHARS_MAX = 6_000
PAGE_END_CHARS = 400  # of the first and of the last words of a page
BEHIND_CHARS = 600  # of the section, and of the text after a table
BEFORE_CHARS_MIN = 600  # of the section, even if a heading seems to be nearer
BEFORE_CHARS_MAX = 3_000
OTHERS_CHARS = 1_800  # of the window that the section leaves to its other pieces
REACH_CHARS = 20_000  # looked through above and below
TABLE_CHARS = 200_000  # looked through for the first rows of a long table
BLOCKS_MAX = 1_000
HEADING_BLOCKS_MAX = 200  # looked through for headings
HEADINGS_MAX = 8  # parent headings cannot be told from those of earlier sections
HEADER_ROWS_MIN = 3  # figures in them may be ages, years or amounts
HEADER_ROWS_MAX = 4
ABOVE_TABLE_CHARS = 400  # with its caption and its units
LEAD_IN_CHARS_MAX = 300
REPLY_CHARS = 300  # behind the block quote that a quote stands in
NOTE_CHARS = 300
NOTES_MAX = 3
BLOCK_BREAK = "\n\n"
BLOCK_QUOTE = "> "
GAP = "[…]"
HEADER_CHARS_MAX = 400
WORD_CHARS_MAX = 40
MARK_CHARS = 20  # of a list's item
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
SPACE = re.compile(r"\s+")
NOTE_MARK = re.compile(r"\[\w{1,4}\]|\^\w{1,2}\b|[*†‡§]{1,2}|[¹²³⁴-⁹]{1,2}")
MARKS_BEHIND_CHARS = 8
Place = tuple[int, int]


class PieceKind(StrEnum):
    """What a piece of a window is for its quote."""

    SECTION = "section"
    HEADING = "heading"
    LEAD_IN = "lead-in"
    TABLE_HEAD = "table head"
    TABLE_NOTES = "table notes"
    REPLY = "reply"
    NOTE = "note"
    PAGE_HEAD = "page head"
    PAGE_FOOT = "page foot"


@dataclass(frozen=True, slots=True)
class Piece:
    """The characters of a kept text from `start` up to `end`."""

    kind: PieceKind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The words of a piece."""

    piece: Piece
    words: str


@dataclass(frozen=True, slots=True)
class ReadingWindow:
    """The pieces of a kept text around a quote: in the order of the text, none overlapping another, 6,000 characters at most."""

    pieces: tuple[Piece, ...]

    def excerpts_of(self, body: str) -> tuple[Excerpt, ...]:
        """The words of each piece in its text."""
        return tuple(Excerpt(piece, body[piece.start : piece.end]) for piece in self.pieces)

    def text_of(self, body: str) -> str:
        """The pieces one below another, with a mark between those that are not neighbours in the text."""
        return join_excerpts(self.excerpts_of(body))

    def digest_of(self, body: str) -> str:
        """The sha256 of the words, in hex: see `digest`."""
        return digest(self.excerpts_of(body))

    def as_rows(self) -> list[list[str | int]]:
        """The pieces as they are stored: kind, start and end of each."""
        return [[piece.kind, piece.start, piece.end] for piece in self.pieces]

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[Any]]) -> Self:
        """The window of stored pieces."""
        return cls(tuple(Piece(PieceKind(kind), start, end) for kind, start, end in rows))


def reading_window(text: str, start: int, end: int) -> ReadingWindow:
    """The window of `text[start:end]`. What is furthest from the quote is cut first.

    It takes a fraction of a millisecond, however long the text is. As a kept text does not mark its headings, short lines without
    a stop count as such.
    """
    blocks = _Blocks(text, start, end)
    chosen = _Chosen()
    for piece in _candidates(text, blocks):
        chosen.add(piece)
    return ReadingWindow(tuple(sorted(chosen.pieces, key=lambda piece: piece.start)))


def digest(excerpts: Iterable[Excerpt]) -> str:
    """The sha256 of the words in hex; white space and their place in the text do not count."""
    words = [[excerpt.piece.kind, *excerpt.words.split()] for excerpt in excerpts]
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()


def join_excerpts(excerpts: Iterable[Excerpt]) -> str:
    """Excerpts of one text in its order. Those that overlap are joined, gaps are marked."""
    parts: list[str] = []
    last = 0
    for excerpt in sorted(excerpts, key=lambda excerpt: (excerpt.piece.start, -excerpt.piece.end)):
        start, end = excerpt.piece.start, excerpt.piece.end
        if end <= last and parts:
            continue
        if parts and start <= last:
            parts[-1] += excerpt.words[last - start :]
        else:
            is_near = start - last <= len(BLOCK_BREAK)
            parts += [excerpt.words] if is_near else [GAP, excerpt.words]
        last = end
    return BLOCK_BREAK.join(part.strip() for part in parts if part.strip())


class _Chosen:
    """Pieces that do not overlap, as long as there is room."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._chars_left = WINDOW_CHARS_MAX

    def add(self, piece: Piece) -> None:
        """Add what no piece before has of it."""
        start = piece.start
        for other in sorted(self.pieces, key=lambda other: other.start):
            if other.end > start and other.start < piece.end:
                self._add(piece.kind, start, other.start)
                start = max(start, other.end)
        self._add(piece.kind, start, piece.end)

    def _add(self, kind: PieceKind, start: int, end: int) -> None:
        end = min(end, start + self._chars_left)
        if end > start:
            self.pieces.append(Piece(kind, start, end))
            self._chars_left -= end - start + len(GAP) + 2 * len(BLOCK_BREAK)


class _Blocks:
    """The blocks of a text around a quote, as places: those above from the nearest upwards, those below downwards."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.start, self.end = start, end
        first = text.rfind(BLOCK_BREAK, 0, start)
        self.own = first + len(BLOCK_BREAK) if first >= 0 else 0
        last = text.find(BLOCK_BREAK, end)
        self.own_end = last if last >= 0 else len(text)
        self.above = list(islice(self.upwards(REACH_CHARS), BLOCKS_MAX))
        self.below = list(islice(self.downwards(REACH_CHARS), BLOCKS_MAX))

    def words(self, place: Place) -> str:
        return self.text[place[0] : place[1]].strip()

    def is_row(self, place: Place) -> bool:
        """Whether it is a table's row; readers part its cells by bars."""
        return CELL_BAR in self.text[place[0] : place[1]]

    def is_quoted(self, place: Place) -> bool:
        return self.text.startswith(BLOCK_QUOTE, place[0])

    def table(self, places: Sequence[Place]) -> list[Place]:
        """The rows of a table from one of them on, with short lines that stand between two."""
        lines = list[Place]()
        for place, following in zip_longest(places, places[1:]):
            is_band = following and self.is_row(following) and is_heading(self.words(place))
            if not self.is_row(place) and not is_band:
                break
            lines.append(place)
        return lines

    def rows(self, walk: Callable[[int], Iterator[Place]]) -> list[Place]:
        """The rows of a table from the quote's row upwards or downwards; none if there are too many."""
        for reach in (REACH_CHARS, TABLE_CHARS):
            places = [(self.own, self.own_end), *walk(reach)]
            rows = self.table(places)
            if len(rows) < len(places) or places[-1][0] == 0 or places[-1][1] == len(self.text.rstrip()):
                return rows
        return []

    def upwards(self, reach: int) -> Iterator[Place]:
        """The whole blocks above within so many characters."""
        low, end = max(0, self.own - reach), self.own - len(BLOCK_BREAK)
        parts = self.text[low : max(low, end)].split(BLOCK_BREAK)
        for words in reversed(parts[1:] if low else parts):
            if words.strip():
                yield end - len(words), end
            end -= len(words) + len(BLOCK_BREAK)

    def downwards(self, reach: int) -> Iterator[Place]:
        """The whole blocks below within so many characters."""
        start = self.own_end + len(BLOCK_BREAK)
        parts = self.text[start : start + reach].split(BLOCK_BREAK)
        for words in parts[:-1] if start + reach < len(self.text) else parts:
            if words.strip():
                yield start, start + len(words)
            start += len(words) + len(BLOCK_BREAK)


def _candidates(text: str, blocks: _Blocks) -> Iterator[Piece]:
    """The pieces, the most important first: what comes too late finds no room."""
    chain = list(islice(_headings(blocks), HEADINGS_MAX))
    heading_start = max((start for start, _ in chain), default=0)
    room = WINDOW_CHARS_MAX - OTHERS_CHARS - BEHIND_CHARS - (blocks.end - blocks.start)
    floor = max(0, blocks.start - min(BEFORE_CHARS_MAX, max(room, 0)))
    begin = max(floor, min(heading_start, max(0, blocks.start - BEFORE_CHARS_MIN)))
    begin = begin if begin == heading_start else _word_start(text, begin)
    behind = _word_end(text, blocks.end + BEHIND_CHARS)
    yield Piece(PieceKind.SECTION, min(begin, blocks.start), max(behind, blocks.end))
    yield from _around_table(blocks)
    yield from _around_block_quote(blocks)
    yield from _lead_in(blocks, heading_start, begin)
    yield from _notes(blocks)
    for start, end in chain:
        yield Piece(PieceKind.HEADING, start, end)
    yield Piece(PieceKind.PAGE_HEAD, 0, _word_end(text, PAGE_END_CHARS))
    yield Piece(PieceKind.PAGE_FOOT, _word_start(text, max(0, len(text) - PAGE_END_CHARS)), len(text))


def _headings(blocks: _Blocks) -> Iterator[Place]:
    """Short lines above prose, from the nearest upwards.

    Of many in a row, which may be a list without marks, the last one and the first two.
    """
    for is_short, places in groupby(
        blocks.above[:HEADING_BLOCKS_MAX], lambda place: is_heading(blocks.words(place))
    ):
        if is_short:
            nearest, *others = places
            yield nearest
            yield from others[-2:]


def is_heading(line: str) -> bool:
    """Whether a line looks like a heading."""
    is_short = len(line) <= HEADING_CHARS_MAX and "\n" not in line and not line.endswith((*STOPS, *LEADS))
    return is_short and CELL_BAR not in line and not line.startswith(BLOCK_QUOTE) and not is_running(line)


def _lead_in(blocks: _Blocks, low: int, high: int) -> Iterator[Piece]:
    """What announces a quote, such as the head of a long list, and how its section begins, where that is above what is near."""
    is_item = begins_item(blocks.words((blocks.own, blocks.own_end))[:MARK_CHARS])

    def announces(place: Place) -> bool:
        words = blocks.words(place)
        return words.endswith(LEADS) or (is_item and not begins_item(words[:MARK_CHARS]))

    section = list(takewhile(lambda place: place[0] > low, blocks.above))
    first = section[-1:] if len(section) < len(blocks.above) else []
    for start, end in dict.fromkeys([*islice(filter(announces, section), 1), *first]):
        if end <= high:
            yield Piece(PieceKind.LEAD_IN, start, min(end, _word_end(blocks.text, start + LEAD_IN_CHARS_MAX)))


def _around_table(blocks: _Blocks) -> Iterator[Piece]:
    """For a quote in a table: its header rows, the text above its first row, and the notes below it."""
    own = blocks.own, blocks.own_end
    if not blocks.is_row(own):
        return
    above, below = blocks.rows(blocks.upwards), blocks.rows(blocks.downwards)
    if above:
        for start, end in _header_rows(blocks, above):
            yield Piece(PieceKind.TABLE_HEAD, start, min(end, start + HEADER_CHARS_MAX))
        top = above[-1][0]
        yield Piece(PieceKind.TABLE_HEAD, _word_start(blocks.text, max(0, top - ABOVE_TABLE_CHARS)), top)
    # A line between rows may be a heading within the table, or a note under it with another table behind.
    first_end = next((row[1] for row, line in pairwise(below) if not blocks.is_row(line)), None)
    for end in filter(None, (first_end, below[-1][1] if below else None)):
        yield Piece(PieceKind.TABLE_NOTES, end, _word_end(blocks.text, end + BEHIND_CHARS))


def _header_rows(blocks: _Blocks, above: Sequence[Place]) -> Iterator[Place]:
    """The nearest heading within a table above a row, with the row under it, and the first rows, more if they may be headers."""
    for row, band in pairwise(above):
        if not blocks.is_row(band):
            yield from (row, band)
            break
    rows = list(islice(reversed(above), HEADER_ROWS_MAX))
    yield from rows[:HEADER_ROWS_MIN]
    yield from takewhile(lambda row: _has_years_alone(blocks.words(row)), rows[HEADER_ROWS_MIN:])


def _has_years_alone(row: str) -> bool:
    """Whether a row has no figures but years, as those of headers do."""
    return all(YEAR.fullmatch(figure) for figure in FIGURE.findall(row))


def _around_block_quote(blocks: _Blocks) -> Iterator[Piece]:
    """For a quote in a block quote who is quoted, and what is said to it."""
    if not blocks.is_quoted((blocks.own, blocks.own_end)):
        return
    if introduction := next((place for place in blocks.above if not blocks.is_quoted(place)), None):
        start, end = introduction
        yield Piece(PieceKind.LEAD_IN, _word_start(blocks.text, max(start, end - LEAD_IN_CHARS_MAX)), end)
    if reply := next((place for place in blocks.below if not blocks.is_quoted(place)), None):
        yield Piece(PieceKind.REPLY, reply[0], _word_end(blocks.text, reply[0] + REPLY_CHARS))


def _notes(blocks: _Blocks) -> Iterator[Piece]:
    """The notes to which marks in a quote lead, or right behind it: they stand at the end of a page, or of a section."""
    text = blocks.text
    marks = NOTE_MARK.findall(text, blocks.start, min(len(text), blocks.end + MARKS_BEHIND_CHARS))
    for mark in list(dict.fromkeys(marks))[:NOTES_MAX]:
        place = text.find(f"{BLOCK_BREAK}{mark} ", blocks.end)
        if place < 0 and mark.startswith("["):  # Notes may be the items of a list.
            place = text.rfind(f"{BLOCK_BREAK}{mark[1:-1]}. ", blocks.end)
        if place >= 0:
            start = place + len(BLOCK_BREAK)
            end = text.find(BLOCK_BREAK, start, start + NOTE_CHARS)
            yield Piece(PieceKind.NOTE, start, end if end >= 0 else _word_end(text, start + NOTE_CHARS))


def _word_start(text: str, at: int) -> int:
    """`at`, or the next beginning of a word, so that no word is cut."""
    if at == 0 or text[at - 1 : at].isspace():
        return at
    space = SPACE.search(text, at, at + WORD_CHARS_MAX)
    return space.end() if space else at


def _word_end(text: str, at: int) -> int:
    """`at`, or the end of a word before it."""
    if at >= len(text) or text[at].isspace():
        return min(at, len(text))
    spaces = list(SPACE.finditer(text, at - WORD_CHARS_MAX if at > WORD_CHARS_MAX else 0, at))
    return spaces[-1].start() if spaces else at
