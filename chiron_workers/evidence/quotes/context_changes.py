"""Whether a later text of a page puts a quote into another context: a banner above it, a denial below, another heading.

Compared are the words of the reading windows, normalised as quotes are. Menus, dates, counters and notes on cookies are no
context, nor is what merely moved.
"""

import hashlib
import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from chiron_workers.evidence.quotes.context import CELL_BAR, LEADS, STOPS, TURNS
from chiron_workers.evidence.quotes.leading_marks import begins_item
from chiron_workers.evidence.quotes.normalise import normalise
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
from chiron_workers.evidence.quotes.sentences import sentence_breaks

PLACES_MAX = 5  # of a quote in one text
WORDS_CHARS_MAX = 300  # of what is new around a quote, as a fact shows it
BANNER_CHARS_MAX = 400
BANNER_UNITS_MAX = 6  # at the beginning of a page
MENU_LINES_MIN = 4
MENU_WORDS_MAX = 3
COUNTER_WORDS_MAX = 10
DATE_WORDS_MAX = 3  # beside the date and its label
NOTE_WORDS_MIN = 6  # of a line without a stop that is no link, right beside a quote
LETTERS_MIN = 30  # that tell a sentence wherever its line breaks
SPACELESS_CHARS_MIN = 15
HEADING_LINES_MAX = 200  # looked through above a quote
TABLE_NOTES_MAX = 2
LINE = re.compile(r"[^\n]+")
NO_LETTER = re.compile(r"[\W\d_]+")
NO_SIGN = re.compile(r"[\W_]+")
CLOSING = " \"'”’»)]}*"
SEPARATED = re.compile(r"(?:^|\S)\s*[|·•›»/]\s+")
SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
QUOTE_MARK = re.compile(r"^(?:> ?)+")
SCORE = re.compile(r"(, score \W?|[^\W\d_][-−–]?)\d[\d.,]*k?$")  # of a post; its sign counts
LIST_NUMBER = re.compile(r"^\(?\d+(?:\.\d+)*[.)]?\s+(?=[^\W\d_])")
MONTHS = (
    r"jan(?:uar[yio]?|vier|eiro)?|enero|gennaio|feb(?:ruar[yi]?|rero|braio)?|février|fevereiro|mar(?:ch|s|zo|ço)?|märz|maart"
    r"|apr(?:il|ile)?|abril|avril|may|mai|mayo|maio|maggio|mei|ju(?:ne|ni|in|nio|nho)|giugno|ju(?:ly|li|lio|lho)|juillet|luglio"
    r"|aug(?:ust|ustus)?|août|agosto|sep(?:t(?:ember|embre|iembre)?)?|settembre|setembro|o[ck]t(?:ober|obre|ubre)?|ottobre"
    r"|outubro|nov(?:ember|embre|iembre|embro)?|de[cz](?:ember|embre|embro)?|décembre|diciembre|dicembre"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)
DATE_LABEL = re.compile(
    r"\b(?:last (?:updated?|modified|reviewed|revised|edited|checked|changed)|updated? on"
    r"|(?:zuletzt|letzte) (?:aktualisiert\w*|geändert|aktualisierung|änderung)|dernière (?:mise à jour|modification)"
    r"|mise? à jour|(?:última )?actuali[zs]a(?:do|ción)|(?:ultimo )?aggiorna\w*|(?:última )?atualiza\w*|(?:laatst )?bijgewerkt"
    r"|aktualizacj\w*|aktualizov\w*|(?:son )?güncelle\w*|cập nhật)\b|обновлен\w*|оновлен\w*|ενημερώθηκε|آخر تحديث|به‌روز\w*"
    r"|अद्यतन|最后更新|最後更新|更新于|更新日|最終更新|최종 수정|แก้ไขล่าสุด|อัปเดต",
    re.IGNORECASE,
)
DATE_WORDS = {
    "a", "ago", "am", "and", "article", "at", "by", "cest", "cet", "checked", "created", "date", "day", "days", "document",
    "edit", "edited", "edt", "est", "first", "from", "gmt", "has", "hour", "hours", "in", "is", "it", "last", "minute",
    "minutes", "modified", "month", "months", "of", "on", "page", "pm", "pdt", "post", "posted", "pst", "published",
    "review", "reviewed", "revised", "revision", "site", "since", "text", "the", "this", "time", "today", "updated",
    "update", "utc", "version", "was", "week", "weeks", "year", "years", "yesterday",
}  # fmt: skip
DATE_LIKE = re.compile(rf"\b(?:{MONTHS})\b\.?|\d+(?:st|nd|rd|th)?", re.IGNORECASE)
COUNTER = re.compile(
    r"\b(?:comments?|views?|viewed|likes?|shares?|shared|replies|reply|votes?|upvotes?|points|reads?|readers|downloads?|downloaded"
    r"|followers?|visits?|visitors?|hits|reactions?|answers?|ratings?|bookmarks?|subscribers?|found this (?:helpful|useful)"
    r"|min(?:utes?)? read|online now|reading now|in stock|kommentare?|aufrufe|antworten|commentaires?|vues|comentarios?|vistas"
    r"|comentários?|commenti|reacties)\b|комментари|просмотр|评论|評論|浏览|阅读|閲覧|コメント|댓글|조회",
    re.IGNORECASE,
)
BOILERPLATE = re.compile(
    r"cookie|\bconsent\b|gdpr|privacy|newsletter|\bsubscri|sign[ -]?(?:in|up)\b|log[ -]?in\b|javascript|ad-?block"
    r"|all rights reserved|\bcopyright\b|©|follow us|share this|\bread more\b|click here|terms of (?:use|service)|\bour app\b"
    r"|powered by|support us|\bdonat|contact us|^(?:advertisement|share|print|e-?mail|menu|search|save|listen|tweet|facebook"
    r"|twitter|whatsapp|top|back|skip to content|continue reading|image credit.*|photo:.*|tags?:.*)$",
    re.IGNORECASE,
)
ELSEWHERE = re.compile(
    r"^\W*(?:related|more (?:from|on|stories|news)|latest|most (?:read|popular)|recommended|you may|you might|see also"
    r"|trending|popular|comments?|leave a (?:comment|reply)|\d+ comments?|also on|further reading|read next|up next"
    r"|recent posts|navigation|share|kommentare|mehr zum thema|auch interessant|à lire aussi|lire aussi|commentaires"
    r"|relacionad[oa]s|comentarios)\b",
    re.IGNORECASE,
)


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
        """What differs, for whoever reads the fact."""
        parts = (("new around it", self.new), ("gone from there", self.gone))
        return "; ".join(f"{name}: {_short(words)}" for name, words in parts if words)


def find_context_changes(
    before: str, now: str, places: Sequence[Place], title: str = ""
) -> list[ContextChange | None]:
    """For quotes of a text what a later one, which has this title, has changed around each.

    None where nothing that counts has changed, or the quote is not there.
    """
    texts = _Units(before), _Units(now)
    return [_find_change(*texts, place, title) for place in places]


def _find_change(before: "_Units", now: "_Units", place: Place, title: str) -> ContextChange | None:
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
    added, removed = new.differences(old), old.differences(new)
    if new.is_block_quote != old.is_block_quote:
        (added if new.is_block_quote else removed).append("a block quote around it")
    if new.heading.casefold() != old.heading.casefold():
        added += [new.heading] if new.heading and new.heading not in added else []
        removed += [old.heading] if old.heading and old.heading not in removed else []
    added += _notice_of_title(new.place.title, old.place.title)
    removed += _notice_of_title(old.place.title, new.place.title)
    if not (added or removed):
        return None
    return ContextChange(new.place.start, new.place.end, new.window, tuple(added), tuple(removed))


def _notice_of_title(title: str, other: str) -> list[str]:
    words = {match[0].casefold() for pattern in (NOTICE, TURNS) for match in pattern.finditer(title)}
    return [title] if any(word not in other.casefold() for word in words) else []


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, or a line without a stop; `line` counts the lines of its text."""

    start: int
    end: int
    line: int
    words: str

    @property
    def key(self) -> str:
        return self.words.casefold()

    @property
    def is_row(self) -> bool:
        return CELL_BAR in self.words

    @property
    def is_sentence(self) -> bool:
        if self.words.rstrip(CLOSING).endswith((*STOPS, *LEADS)):
            return len(self.words.split()) > 1 or bool(SPACELESS.search(self.words)) or self.is_notice
        return len(SPACELESS.findall(self.words)) >= SPACELESS_CHARS_MIN

    @property
    def is_notice(self) -> bool:
        return bool(NOTICE.search(self.words) or TURNS.search(self.words))

    @property
    def is_harmless(self) -> bool:
        """Whether it is a date, a counter, or what each page has."""
        return is_date(self.words) or is_counter(self.words) or bool(BOILERPLATE.search(self.words))


def is_date(line: str) -> bool:
    """Whether a line only says when a page was written, read or changed."""
    is_dated = bool(DATE_LIKE.search(line))
    rest = DATE_LIKE.sub(" ", line)
    words = NO_LETTER.sub(" ", rest).casefold().split()
    if (is_dated or DATE_LABEL.search(line)) and all(word in DATE_WORDS for word in words):
        return True
    others = DATE_LABEL.sub(" ", rest)
    letters = NO_LETTER.sub(" ", others).split()
    count = len("".join(letters)) // 2 if SPACELESS.search(others) else len(letters)
    is_labelled = is_dated and bool(DATE_LABEL.search(line))
    return is_labelled and count <= DATE_WORDS_MAX and not (NOTICE.search(others) or TURNS.search(others))


def is_counter(line: str) -> bool:
    """Whether a line only counts comments, views or the like."""
    if not NO_LETTER.sub("", line):
        return True
    is_short = len(line.split()) <= COUNTER_WORDS_MAX
    return (
        is_short
        and any(character.isdigit() for character in line)
        and bool(COUNTER.search(line))
        and not (NOTICE.search(line) or TURNS.search(line))
    )


class _Units:
    """The units of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.units = tuple(_units(text))
        self.keys = {unit.key for unit in self.units}
        self.starts = [unit.start for unit in self.units]
        self.menu = set(_menu_lines(self.units))

    @cached_property
    def elsewhere(self) -> dict[_Unit, int]:
        """The units below headings of links or comments, and where those headings stand."""
        places = dict[_Unit, int]()
        heading = -1
        for unit in self.units:
            if ELSEWHERE.match(unit.words) and not unit.is_sentence and not unit.is_row:
                heading = unit.start
            elif heading >= 0 and (NOTICE.search(unit.words) or (unit.is_notice and not unit.is_sentence)):
                heading = heading if unit.is_harmless else -1
            if heading >= 0:
                places[unit] = heading
        return places

    @cached_property
    def letters(self) -> str:
        return "".join(_letters(unit.words) for unit in self.units)

    def has(self, unit: _Unit) -> bool:
        """Whether it stands in this text, wherever its lines break."""
        if unit.key in self.keys:
            return True
        letters = _letters(unit.words)
        return len(letters) >= LETTERS_MIN and letters in self.letters


def _units(text: str) -> Iterator[_Unit]:
    for number, line in enumerate(LINE.finditer(text)):
        bounds = [0, len(line[0])] if CELL_BAR in line[0] else sentence_breaks(line[0])
        for start, end in pairwise(bounds):
            words = _even(line[0][start:end])
            if words:
                yield _Unit(line.start() + start, line.start() + end, number, words)


def _even(words: str) -> str:
    return " ".join(normalise(QUOTE_MARK.sub("", words.strip())).text.split())


def _letters(words: str) -> str:
    return NO_SIGN.sub("", words).casefold()


def _menu_lines(units: Sequence[_Unit]) -> Iterator[int]:
    """The numbers of lines that are a menu: one with several separators, or several short ones in a row."""
    for is_short, group in groupby(units, key=_is_short_label):
        lines = [unit.line for unit in group]
        if is_short and len(lines) >= MENU_LINES_MIN:
            yield from lines[:-1]  # the last one may be the heading of what follows
    for place, unit in enumerate(units):
        neighbours = (*units[max(0, place - 1) : place], *units[place + 1 : place + 2])
        if len(SEPARATED.findall(unit.words)) > 1 and not any(other.is_row for other in neighbours):
            yield unit.line


def _is_short_label(unit: _Unit) -> bool:
    is_short = len(unit.words.split()) <= MENU_WORDS_MAX and not SPACELESS.search(unit.words)
    return is_short and not unit.is_sentence and not unit.is_row and not begins_item(unit.words)


class _Surroundings:
    """What stands around a quote in one text."""

    def __init__(self, units: _Units, place: Place) -> None:
        self.place = place
        self._all = units
        self.window = window = reading_window(units.text, place.start, place.end)
        ends = (PieceKind.PAGE_HEAD, PieceKind.PAGE_FOOT, PieceKind.HEADING)
        self._near = self._within([piece for piece in window.pieces if piece.kind not in ends])
        near = set(self._near)
        self._far = [unit for unit in self._within(window.pieces) if unit not in near]
        self._own = [unit for unit in self._near if unit.end > place.start and unit.start < place.end]

    def _within(self, pieces: Sequence[Piece]) -> list[_Unit]:
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

    def differences(self, other: "_Surroundings") -> list[str]:
        """The words of the context here that the other text does not have."""
        near = [unit for unit in self._near if not other.has(unit) and self._counts_near(unit)]
        far = [unit for unit in self._far if not other.has(unit) and self._counts_far(unit, other)]
        return [unit.words for unit in sorted([*near, *far], key=lambda unit: unit.start)]

    def has(self, unit: _Unit) -> bool:
        return unit in self._own or self._all.has(unit)

    def _counts_near(self, unit: _Unit) -> bool:
        if unit in self._own:
            return True
        if unit.line in self._all.menu or unit.is_harmless or self._is_elsewhere(unit):
            return False
        if self._is_of_table(unit):
            return True
        if unit.is_row:
            return unit.is_notice
        return unit.is_sentence or unit.is_notice or self._is_beside(unit)

    def _counts_far(self, unit: _Unit, other: "_Surroundings") -> bool:
        if unit.line in self._all.menu or unit.is_harmless or self._is_elsewhere(unit):
            return False
        return unit.is_notice or (unit.is_sentence and unit in self._banners(other))

    def _banners(self, other: "_Surroundings") -> list[_Unit]:
        """What stands above everything that the other text has too."""
        units: list[_Unit] = []
        for unit in self._all.units[:BANNER_UNITS_MAX]:
            if unit.end > BANNER_CHARS_MAX or self._is_shared(unit, other):
                break
            units.append(unit)
        return units

    def _is_shared(self, unit: _Unit, other: "_Surroundings") -> bool:
        return unit.line not in self._all.menu and not unit.is_harmless and other.has(unit)

    def _is_elsewhere(self, unit: _Unit) -> bool:
        """Whether it stands behind the quote, below a heading of links or comments."""
        return self._all.elsewhere.get(unit, -1) >= self.place.end

    def _is_of_table(self, unit: _Unit) -> bool:
        """For a quote in a table: whether it is the first row, stands right above it, or is a note below."""
        if not any(own.is_row for own in self._own):
            return False
        units = self._all.units
        first = last = self._first(self.place.start)
        while first > 0 and units[first - 1].is_row:
            first -= 1
        while last + 1 < len(units) and units[last + 1].is_row:
            last += 1
        return unit in (*units[max(0, first - 1) : first + 1], *units[last + 1 : last + 1 + TABLE_NOTES_MAX])

    def _is_beside(self, unit: _Unit) -> bool:
        """Whether it is a line right above or below the quote's, too long for the name of a link."""
        lines = {own.line for own in self._own}
        return len(unit.words.split()) >= NOTE_WORDS_MIN and any(abs(unit.line - line) == 1 for line in lines)


def _short(words: Sequence[str]) -> str:
    text = " … ".join(words)
    return text if len(text) <= WORDS_CHARS_MAX else f"{text[:WORDS_CHARS_MAX].rstrip()}…"
