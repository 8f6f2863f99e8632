"""The tokens of a statement, one after the other: its content words, what denies or limits it, and its figures' places."""

from dataclasses import dataclass, field

from chiron_workers.evidence.statements.stems import stem_of
from chiron_workers.evidence.vocabulary import (
    CONDITION_OPENERS,
    CUES,
    EMPTY_AFTER_NEGATION,
    HEDGES,
    NEGATIONS,
    OPENERS,
    SILENT,
)

DENIAL = "not"  # the mark of any negation
_VERBS = frozenset({"is", "are", "was", "were", "be", "been", "has", "have", "had"})


@dataclass(frozen=True, slots=True)
class Word:
    """A content word: as written, without case, and its stem, under which synonyms are one word."""

    written: str
    stem: str
    is_name: bool
    opener: str = ""  # the preposition or conjunction that opens the phrase it stands in


@dataclass(slots=True)
class TokenReader:
    """Sorts the tokens of one statement into what the rules compare."""

    words: list[Word] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    negations: list[str] = field(default_factory=list)
    marks: list[tuple[str, int]] = field(default_factory=list)
    opener: str = ""
    phrase_words: int = 0  # content words since the opener

    def read(self, tokens: list[str], lower_tokens: list[str]) -> None:
        """Read tokens; `lowered` holds them without case, and `\\x00n` or `\\x00d` stands for a number or a date."""
        for n, token in enumerate(tokens):
            if token.startswith("\x00"):
                figure = "#" + token[1:]
                self.order.append(figure)
                if figure == "#d":
                    self._close_phrase()
            else:
                self._read_word(token, lower_tokens, n)

    def _close_phrase(self) -> None:
        self.opener, self.phrase_words = "", 0

    def _move_phrase(self, word: str) -> None:
        if word in CONDITION_OPENERS or word in OPENERS:
            self.opener, self.phrase_words = word, 0
        elif word in _VERBS or (word.endswith("ed") and self.phrase_words):
            self._close_phrase()  # "in the province died", but not "in treated patients"

    def _read_word(self, token: str, lower_tokens: list[str], n: int) -> None:
        word = lower_tokens[n]
        self._move_phrase(word)
        if word in NEGATIONS or word.endswith("n't"):
            if not EMPTY_AFTER_NEGATION.intersection(lower_tokens[n + 1 : n + 2]):
                self.negations.append(word)
                self.marks.append((DENIAL, len(self.order)))
        elif word in HEDGES or word in CUES:
            self.marks.append((word, len(self.order)))
        elif word not in SILENT:
            # The word that opens a sentence has a capital whatever it is.
            is_name = any(letter.isupper() or letter.isdigit() for letter in token[n == 0 :])
            stem = stem_of(word)
            self.words.append(Word(word, stem, is_name, self.opener))
            self.order.append(stem)
            self.phrase_words += word != self.opener
