"""Whether a later text of a page puts a quote into another context: a banner above it, a denial below, another heading.

Compared are the words of the reading windows, normalised as quotes are. Menus, dates, counters and notes on cookies are no
context, nor is what merely moved.
"""

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from chiron_workers.evidence.quotes.context import TURNS
from chiron_workers.evidence.quotes.notice_words import NOTICE
from chiron_workers.evidence.quotes.quotes import locate
from chiron_workers.evidence.quotes.reading_window import (
    BLOCK_QUOTE,
    Piece,
    PieceKind,
    ReadingWindow,
    is_heading,
    reading_window,
)
from chiron_workers.evidence.quotes.text_units import Unit, Units

PLACES_MAX = 5  # of a quote in one text
WORDS_CHARS_MAX = 300  # of what is new around a quote, as a fact shows it
BANNER_CHARS_MAX = 400
BANNER_UNITS_MAX = 6  # at the beginning of a page
NOTE_WORDS_MIN = 6  # of a line without a stop that is no link, right beside a quote
HEADING_LINES_MAX = 200  # looked through above a quote
TABLE_NOTES_MAX = 2
SCORE = re.compile(r"(, score \W?|[^\W\d_][-−–]?)\d[\d.,]*k?$")  # of a post; its sign counts
LIST_NUMBER = re.compile(r"^\(?\d+(?:\.\d+)*[.)]?\s+(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote stands in a text of its source, and the title that the source had then."""

    start: int
    end: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class ContextChange:
    """Where a quote stands in a later text, its window there, and what of its context is `new` and what is `gone`."""

    start: int
    end: int
    window: ReadingWindow
    new: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def digest(self) -> str:
        """The sha256, in hex, of what differs: the same after each harmless change."""
        return hashlib.sha256(json.dumps([sorted(self.new), sorted(self.gone)]).encode()).hexdigest()

    @property
    def words(self) -> str:
        """The difference in words, for readers of the fact."""
        parts = (("new around it", self.new), ("gone from there", self.gone))
        return "; ".join(f"{name}: {_short(words)}" for name, words in parts if words)


def find_context_changes(
    before: str, now: str, places: Sequence[Place], title: str = ""
) -> list[ContextChange | None]:
    """For quotes of a text what a later one, which has this title, has changed around each.

    None where nothing that counts has changed, or the quote is not there.
    """
    texts = Units(before), Units(now)
    return [_find_change(*texts, place, title) for place in places]


def _find_change(before: "Units", now: "Units", place: Place, title: str) -> ContextChange | None:
    quote = before.text[place.start : place.end]
    if not quote:
        return None
    old = _Surroundings(before, place)
    first_change = None
    for start, end in _places(quote, now.text):
        change = _compare(old, _Surroundings(now, Place(start, end, title)))
        if change is None:
            return None
        first_change = first_change or change
    return first_change


def _places(quote: str, text: str) -> list[tuple[int, int]]:
    places, at = list[tuple[int, int]](), text.find(quote)
    while at >= 0 and len(places) < PLACES_MAX:
        places.append((at, at + len(quote)))
        at = text.find(quote, at + len(quote))
    if not places and (match := locate(quote, text, has_marks=False)):
        places = [(match.start, match.end)]
    return places


def _compare(old: "_Surroundings", new: "_Surroundings") -> ContextChange | None:
    news, losses = new.differences(old), old.differences(new)
    if new.is_block_quote != old.is_block_quote:
        (news if new.is_block_quote else losses).append("a block quote around it")
    if new.heading.casefold() != old.heading.casefold():
        news += [new.heading] if new.heading and new.heading not in news else []
        losses += [old.heading] if old.heading and old.heading not in losses else []
    news += _notice_of_title(new.place.title, old.place.title)
    losses += _notice_of_title(old.place.title, new.place.title)
    if not (news or losses):
        return None
    return ContextChange(new.place.start, new.place.end, new.window, tuple(news), tuple(losses))


def _notice_of_title(title: str, counterpart: str) -> list[str]:
    words = {match[0].casefold() for pattern in (NOTICE, TURNS) for match in pattern.finditer(title)}
    return [title] if any(word not in counterpart.casefold() for word in words) else []


class _Surroundings:
    """The text around a quote."""

    def __init__(self, units: Units, place: Place) -> None:
        self.place = place
        self._all = units
        self.window = window = reading_window(units.text, place.start, place.end)
        ends = (PieceKind.PAGE_HEAD, PieceKind.PAGE_FOOT, PieceKind.HEADING)
        self._near = self._within([piece for piece in window.pieces if piece.kind not in ends])
        near = set(self._near)
        self._far = [unit for unit in self._within(window.pieces) if unit not in near]
        self._own = [unit for unit in self._near if unit.end > place.start and unit.start < place.end]

    def _within(self, pieces: Sequence[Piece]) -> list[Unit]:
        units = dict.fromkeys(
            unit
            for piece in pieces
            for unit in self._all.units[self._first(piece.start) : self._first(piece.end)]
        )
        return sorted(units, key=lambda unit: unit.start)

    def _first(self, at: int) -> int:
        place = bisect_left(self._all.starts, at)
        return place - 1 if place and self._all.units[place - 1].end > at else place

    @cached_property
    def is_block_quote(self) -> bool:
        line_start = self._all.text.rfind("\n", 0, self.place.start) + 1
        return self._all.text.startswith(BLOCK_QUOTE, line_start)

    @cached_property
    def heading(self) -> str:
        """The nearest heading above the quote, without its number and a score."""
        first = self._first(self.place.start)
        own_line = self._all.units[first].line if first < len(self._all.units) else -1
        for unit in reversed(self._all.units[max(0, first - HEADING_LINES_MAX) : first]):
            if not is_heading(unit.words) or unit.line == own_line or unit.line in self._all.menu:
                continue
            if not unit.is_harmless:
                return SCORE.sub(r"\1", LIST_NUMBER.sub("", unit.words))
        return ""

    def differences(self, counterpart: "_Surroundings") -> list[str]:
        """The words of the context here that the other text does not have."""
        near = [unit for unit in self._near if not counterpart.has(unit) and self._counts_near(unit)]
        far = [
            unit for unit in self._far if not counterpart.has(unit) and self._counts_far(unit, counterpart)
        ]
        return [unit.words for unit in sorted([*near, *far], key=lambda unit: unit.start)]

    def has(self, unit: Unit) -> bool:
        return unit in self._own or self._all.has(unit)

    def _counts_near(self, unit: Unit) -> bool:
        if unit in self._own:
            return True
        if unit.line in self._all.menu or unit.is_harmless or self._is_elsewhere(unit):
            return False
        if self._is_of_table(unit):
            return True
        if unit.is_row:
            return unit.is_notice
        return unit.is_sentence or unit.is_notice or self._is_beside(unit)

    def _counts_far(self, unit: Unit, counterpart: "_Surroundings") -> bool:
        if unit.line in self._all.menu or unit.is_harmless or self._is_elsewhere(unit):
            return False
        return unit.is_notice or (unit.is_sentence and unit in self._banners(counterpart))

    def _banners(self, counterpart: "_Surroundings") -> list[Unit]:
        """The units above the first one that the other text has as well."""
        units: list[Unit] = []
        for unit in self._all.units[:BANNER_UNITS_MAX]:
            if unit.end > BANNER_CHARS_MAX or self._is_shared(unit, counterpart):
                break
            units.append(unit)
        return units

    def _is_shared(self, unit: Unit, counterpart: "_Surroundings") -> bool:
        return unit.line not in self._all.menu and not unit.is_harmless and counterpart.has(unit)

    def _is_elsewhere(self, unit: Unit) -> bool:
        """Whether it stands behind the quote, below a heading of links or comments."""
        return self._all.elsewhere.get(unit, -1) >= self.place.end

    def _is_of_table(self, unit: Unit) -> bool:
        """For a quote in a table: whether it is the first row, stands right above it, or is a note below."""
        if not any(row.is_row for row in self._own):
            return False
        units = self._all.units
        first = last = self._first(self.place.start)
        while first > 0 and units[first - 1].is_row:
            first -= 1
        while last + 1 < len(units) and units[last + 1].is_row:
            last += 1
        return unit in (*units[max(0, first - 1) : first + 1], *units[last + 1 : last + 1 + TABLE_NOTES_MAX])

    def _is_beside(self, unit: Unit) -> bool:
        """Whether it is a line right above or below the quote's, too long for the name of a link."""
        lines = {unit_of_quote.line for unit_of_quote in self._own}
        return len(unit.words.split()) >= NOTE_WORDS_MIN and any(abs(unit.line - line) == 1 for line in lines)


def _short(words: Sequence[str]) -> str:
    text = " … ".join(words)
    return text if len(text) <= WORDS_CHARS_MAX else f"{text[:WORDS_CHARS_MAX].rstrip()}…"
