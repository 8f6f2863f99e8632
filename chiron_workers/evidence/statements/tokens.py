"""The words of a statement, one after the other: which carry it, which deny or limit it, and behind what they stand."""

from dataclasses import dataclass, field

from chiron_workers.evidence.statements.stems import stem_of
from chiron_workers.evidence.vocabulary import (
    CONDITION_OPENERS,
    EMPTY_AFTER_NEGATION,
    HEDGES,
    NEGATIONS,
    ONE_NAME,
    PHRASE_OPENERS,
    RESTRICTIONS,
    SETTINGS,
    SILENT,
)

DATE = "\x00d"
_DETERMINERS = frozenset({"the", "a", "an", "its", "their", "his", "her"})
_VERBS = frozenset({"is", "are", "was", "were", "be", "been", "has", "have", "had"})


@dataclass(frozen=True, slots=True)
class Word:
    """One word: as written, without case, and as its stem, under which synonyms are one."""

    written: str
    stem: str
    is_name: bool
    opener: str = ""  # the preposition or conjunction that it stands behind
    is_acronym: bool = False


@dataclass(slots=True)
class Reading:
    """The words of a statement while they are read one after the other."""

    words: list[Word] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    negations: list[str] = field(default_factory=list)
    scopes: list[tuple[str, int]] = field(default_factory=list)
    opener: str = ""
    phrase_words: int = 0  # content words since the opener

    def read(self, tokens: list[str], lowered: list[str]) -> None:
        """Read tokens; `lowered` holds them without case."""
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
