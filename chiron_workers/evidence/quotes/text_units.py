"""The sentences and lines of a page's text, and which of them are no context: dates, counters, menus, what each page has."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from chiron_workers.evidence.quotes.context import CELL_BAR, LEADS, STOPS, TURNS
from chiron_workers.evidence.quotes.leading_marks import begins_item
from chiron_workers.evidence.quotes.normalise import normalise
from chiron_workers.evidence.quotes.notice_words import NOTICE
from chiron_workers.evidence.quotes.sentences import sentence_breaks

MENU_LINES_MIN = 4
MENU_WORDS_MAX = 3
COUNTER_WORDS_MAX = 10
DATE_WORDS_MAX = 3  # beside the date and its label
LETTERS_MIN = 30  # enough to recognise a sentence with other line breaks
SPACELESS_CHARS_MIN = 15
LINE = re.compile(r"[^\n]+")
NO_LETTER = re.compile(r"[\W\d_]+")
NO_SIGN = re.compile(r"[\W_]+")
CLOSING = " \"'”’»)]}*"
SEPARATED = re.compile(r"(?:^|\S)\s*[|·•›»/]\s+")
SPACELESS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
QUOTE_MARK = re.compile(r"^(?:> ?)+")
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
class Unit:
    """A sentence, or a line without a stop; `line` counts the lines of its text."""

    start: int
    end: int
    line: int
    words: str

    @property
    def key(self) -> str:
        """The words that identify it in another text."""
        return self.words.casefold()

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return CELL_BAR in self.words

    @property
    def is_sentence(self) -> bool:
        """Whether it is a sentence, rather than a label, a link or a row."""
        if self.words.rstrip(CLOSING).endswith((*STOPS, *LEADS)):
            return len(self.words.split()) > 1 or bool(SPACELESS.search(self.words)) or self.is_notice
        return len(SPACELESS.findall(self.words)) >= SPACELESS_CHARS_MIN

    @property
    def is_notice(self) -> bool:
        """Whether it says something about the page, such as that it was retracted, or denies what is beside it."""
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


class Units:
    """The units of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.units = tuple(_units(text))
        self.keys = {unit.key for unit in self.units}
        self.starts = [unit.start for unit in self.units]
        self.menu = set(_menu_lines(self.units))

    @cached_property
    def elsewhere(self) -> dict[Unit, int]:
        """The units below headings of links or comments, and where those headings stand."""
        places = dict[Unit, int]()
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
        """All letters and digits of the text, in small letters."""
        return "".join(_letters(unit.words) for unit in self.units)

    def has(self, unit: Unit) -> bool:
        """Whether this text has it, perhaps with other line breaks."""
        if unit.key in self.keys:
            return True
        letters = _letters(unit.words)
        return len(letters) >= LETTERS_MIN and letters in self.letters


def _units(text: str) -> Iterator[Unit]:
    for number, line in enumerate(LINE.finditer(text)):
        bounds = [0, len(line[0])] if CELL_BAR in line[0] else sentence_breaks(line[0])
        for start, end in pairwise(bounds):
            words = _even(line[0][start:end])
            if words:
                yield Unit(line.start() + start, line.start() + end, number, words)


def _even(words: str) -> str:
    return " ".join(normalise(QUOTE_MARK.sub("", words.strip())).text.split())


def _letters(words: str) -> str:
    return NO_SIGN.sub("", words).casefold()


def _menu_lines(units: Sequence[Unit]) -> Iterator[int]:
    """The numbers of lines that are a menu: one with several separators, or several short ones in a row."""
    for is_short, group in groupby(units, key=_is_short_label):
        lines = [unit.line for unit in group]
        if is_short and len(lines) >= MENU_LINES_MIN:
            yield from lines[:-1]  # the last one may be the heading of what follows
    for place, unit in enumerate(units):
        neighbours = (*units[max(0, place - 1) : place], *units[place + 1 : place + 2])
        if len(SEPARATED.findall(unit.words)) > 1 and not any(other.is_row for other in neighbours):
            yield unit.line


def _is_short_label(unit: Unit) -> bool:
    is_short = len(unit.words.split()) <= MENU_WORDS_MAX and not SPACELESS.search(unit.words)
    return is_short and not unit.is_sentence and not unit.is_row and not begins_item(unit.words)
