"""A statement taken apart: its content words in order, names, negations, hedges and conditions, beside its figures."""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from chiron_workers.evidence.dates import Moment
from chiron_workers.evidence.figures import Figures, figures
from chiron_workers.evidence.stems import stem_of
from chiron_workers.evidence.vocabulary import (
    CONDITION_OPENERS,
    EMPTY_AFTER_NEGATION,
    ENGLISH,
    FOREIGN,
    HEDGES,
    NEGATIONS,
    ONE_NAME,
    PARTICLES,
    PHRASE_OPENERS,
    PHRASES,
    RESTRICTIONS,
    SETTINGS,
    SILENT,
)

DATE = "\x00d"
_TOKEN = re.compile(r"\x00[nd]|[,;]|[^\W_]+(?:[.&'-][^\W_]+)*[+#]*")
PHRASES_MAX = 3  # that open a sentence
_PHRASE = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.I)
_DETERMINERS = frozenset({"the", "a", "an", "its", "their", "his", "her"})
_VERBS = frozenset({"is", "are", "was", "were", "be", "been", "has", "have", "had"})
_ONE_WORD = {"when": "if", "whenever": "if", "chiefly": "mainly", "solely": "only", "exclusively": "only"}
_PROSE = frozenset(" .,;:!?'\"()[]-\x00")
_LEADING_PHRASE = re.compile(r"^([A-Z]\w*)((?: [^,;:]+)?), (?!(?:and|or|but)\b)(.+?)([.!?]?)$", re.S)
_ACCENTS = str.maketrans("áàâäãåéèêëíìîïóòôöõúùûüñç", "aaaaaaeeeeiiiiooooouuuunc")


@dataclass(frozen=True, slots=True)
class Word:
    """One word: as written, without case, and as its stem, under which synonyms are one."""

    written: str
    stem: str
    is_name: bool
    opener: str = ""  # the preposition or conjunction that it stands behind
    is_acronym: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """What the rules look at. `order` holds the stems and a mark for each figure (#n, #d), as they stand."""

    folded: str
    figures: Figures
    words: tuple[Word, ...]
    order: tuple[str, ...]
    negations: tuple[str, ...]
    hedges: frozenset[str]
    restrictions: frozenset[str]
    scopes: tuple[
        tuple[str, int], ...
    ]  # each negation, hedge and restriction, and how many of `order` stand before it
    particles: tuple[str, ...]  # signs, and words by which one does something to another, or comes from where
    is_english: bool

    @property
    def stems(self) -> frozenset[str]:
        """Its content words."""
        return frozenset(word.stem for word in self.words)

    @property
    def names(self) -> tuple[str, ...]:
        """Its capitalised words in order, as stems."""
        return tuple(word.stem for word in self.words if word.is_name)

    @property
    def denied(self) -> tuple[str, ...]:
        """The content word behind each negation."""
        places = (at for word, at in self.scopes if word == "not")
        behind = ([stem for stem in self.order[at : at + 3] if not stem.startswith("#")] for at in places)
        return tuple(stems[0] for stems in behind if stems)


def folded(text: str) -> str:
    """The text without case, accents, doubled spaces and the stop at its end."""
    return " ".join(text.casefold().translate(_ACCENTS).split()).rstrip(" .!")


@lru_cache(maxsize=64)
def taken_apart(text: str) -> Statement:
    """A statement's words and figures. A phrase that opens it (`In 1969, ...`) counts as if it closed it."""
    found = figures(_PHRASE.sub(lambda match: PHRASES[match[0].lower()], text))
    for _ in range(PHRASES_MAX):
        moved = _LEADING_PHRASE.match(found.text)
        if moved is None or moved[1].lower() not in PHRASE_OPENERS or re.search(r"[.!?] [A-Z]", found.text):
            break
        rest = moved[3][:1].upper() + moved[3][1:]
        found = figures(f"{rest} {moved[1].lower()}{moved[2]}{moved[4]}")
    masked = _masked(found)
    tokens = _TOKEN.findall(masked)
    lowered = [
        _ONE_WORD.get(low := token.casefold().translate(_ACCENTS).removesuffix("'s"), low) for token in tokens
    ]
    reading = _Reading()
    reading.read(tokens, lowered)
    signs = (letter for letter in masked if letter not in _PROSE and not letter.isalnum())
    return Statement(
        folded(found.text),
        found,
        tuple(reading.words),
        tuple(reading.order),
        tuple(reading.negations),
        frozenset(lowered) & HEDGES,
        frozenset(lowered) & RESTRICTIONS,
        tuple(reading.scopes),
        (*(word for word in lowered if word in PARTICLES), *signs),
        _is_english(found.text, lowered),
    )


def _masked(found: Figures) -> str:
    text = found.text
    for one in reversed(found.all):
        text = f"{text[: one.start]} \x00{'d' if isinstance(one, Moment) else 'n'} {text[one.end :]}"
    return text


@dataclass(slots=True)
class _Reading:
    words: list[Word] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    negations: list[str] = field(default_factory=list)
    scopes: list[tuple[str, int]] = field(default_factory=list)
    opener: str = ""
    phrase_words: int = 0  # content words since the opener

    def read(self, tokens: list[str], lowered: list[str]) -> None:
        n = 0
        while n < len(tokens):
            if tokens[n].startswith("\x00"):
                self.order.append("#" + tokens[n][1:])
                if tokens[n] == DATE or _DETERMINERS.intersection(lowered[n + 1 : n + 2]):
                    self._close_phrase()
                n += 1
            elif tokens[n] in ",;":
                self._close_phrase()
                n += 1
            else:
                n += self._read_word(tokens, lowered, n)

    def _close_phrase(self) -> None:
        self.opener, self.phrase_words = "", 0

    def _open_phrase(self, word: str) -> None:
        if word in CONDITION_OPENERS or word in PHRASE_OPENERS or word in SETTINGS:
            self.opener, self.phrase_words = word, 0
        elif word in _VERBS or (word.endswith("ed") and self.phrase_words):
            self._close_phrase()  # "in the province died", but not "in treated patients"

    def _read_word(self, tokens: list[str], lowered: list[str], n: int) -> int:
        word = lowered[n]
        self._open_phrase(word)
        if word in NEGATIONS or word.endswith("n't"):
            if not _is_empty(tokens, lowered, n):
                self.negations.append(word)
                self.scopes.append(("not", len(self.order)))
            return 1
        if word in HEDGES or word in RESTRICTIONS:
            self.scopes.append((word, len(self.order)))
            return 1
        if word in SILENT:
            return 1
        name, used = _one_name(lowered, n)
        # The word that opens a sentence has a capital whatever it is.
        is_first = n == 0 and not (len(tokens) > 1 and tokens[1][0].isupper())
        is_name = bool(name) or any(c.isupper() or c.isdigit() for c in tokens[n][is_first:])
        stem = name or stem_of(word)
        is_acronym = len(tokens[n]) > 1 and tokens[n].isupper()
        self.words.append(Word(word, stem, is_name, self.opener, is_acronym))
        self.order.append(stem)
        self.phrase_words += word != self.opener
        return used or 1


def _is_empty(tokens: list[str], lowered: list[str], n: int) -> bool:
    # "not only", and "not until 2014", which says when something was rather than that it was not
    return bool(EMPTY_AFTER_NEGATION.intersection(lowered[n + 1 : n + 2])) or (
        lowered[n + 1 : n + 2] == ["until"] and DATE in tokens[n + 2 : n + 5]
    )


def _one_name(lowered: list[str], n: int) -> tuple[str, int]:
    for count in (3, 2, 1):
        name = ONE_NAME.get(tuple(lowered[n : n + count]))
        if name is not None and len(lowered[n : n + count]) == count:
            return name, count
    return "", 0


def _is_english(text: str, lowered: list[str]) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    if sum(letter > "\u024f" for letter in letters) > 0.1 * len(letters):
        return False
    foreign = sum(word in FOREIGN for word in lowered)
    return foreign <= sum(word in ENGLISH for word in lowered)
