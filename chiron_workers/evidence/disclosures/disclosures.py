"""Which rare words of private texts a message to the outside gives away."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from chiron_workers.evidence.disclosures.common_words import CommonWords
from chiron_workers.evidence.disclosures.decodings import ALPHABET, readings
from chiron_workers.evidence.disclosures.rare_words import words_of
from chiron_workers.evidence.disclosures.signs import KEYPAD_CHARS_MIN, keypad_numbers, keys_of

PART_CHARS_MIN = 4  # of a word that stands for the longer one it is a part of
INSIDE_CHARS_MIN = 6  # of a word that counts where it stands within another
PIECE_CHARS_MIN = 3  # of a word that was sent in pieces, in several messages
PIECED_CHARS_MIN = 6


@dataclass(slots=True)
class Disclosures:
    """Looks for private words in messages.

    Args:
        private_words: Rare words of private texts, folded, without those that may go out.
        common: Words that give nothing away by themselves.
        allowed_words: Others that do not, folded: those of the topic.
    """

    private_words: Collection[str]
    common: CommonWords
    allowed_words: Set[str] = frozenset()
    _private_words: frozenset[str] = field(init=False)
    _sorted_words: list[str] = field(init=False)
    _text: str = field(init=False)  # all private words, between line breaks
    # Parts of PART_CHARS_MIN letters, of which all that stands in the private words is made.
    _parts: frozenset[str] = field(init=False)
    _beginnings: frozenset[str] = field(init=False)  # of those that count within another word

    def __post_init__(self) -> None:
        self._private_words = frozenset(self.private_words)
        self._sorted_words = sorted(self._private_words)
        self._text = "\n" + "\n".join(self._sorted_words) + "\n"
        self._parts = frozenset(
            part for word in self._sorted_words for part in _windows(word, PART_CHARS_MIN)
        )
        self._beginnings = frozenset(
            word[:INSIDE_CHARS_MIN] for word in self._sorted_words if len(word) >= INSIDE_CHARS_MIN
        )

    def find(self, message: str, *, earlier: Iterable[str] = ()) -> set[str]:
        """The private words that a message gives away, in plain or coded, alone or with messages that went out before."""
        words = {word for version in readings(message) for word in self._in_words(words_of(version))}
        return words | self._typed(message) | self._pieced_together(words_of(message), earlier)

    def _in_words(self, words: Sequence[str]) -> Iterator[str]:
        uncommon = [word for word in words if len(word) == 1 or not self._is_harmless(word)]
        letters = [sign for word in words if (sign := ALPHABET.get(word, word if len(word) == 1 else ""))]
        for sequence in (words, uncommon, letters):
            yield from self._joined(sequence)
        for word in set(uncommon):
            if len(word) >= PART_CHARS_MIN:
                yield from self._around(word)
            if len(word) > INSIDE_CHARS_MIN:
                yield from self._inside(word)

    def _joined(self, words: Sequence[str]) -> Iterator[str]:
        """Private words that consecutive words make: one whole word, or the letters and pieces of a split one."""
        for start in range(len(words)):
            whole = ""
            for place in range(start, len(words)):
                whole += words[place]
                if not self._begins_one(whole):
                    break
                if whole in self._private_words:
                    yield whole

    def _begins_one(self, letters: str) -> bool:
        place = bisect_left(self._sorted_words, letters)
        return place < len(self._sorted_words) and self._sorted_words[place].startswith(letters)

    def _around(self, word: str) -> Iterator[str]:
        """The first private word that this one is a part of."""
        if not all(part in self._parts for part in _windows(word, PART_CHARS_MIN)):
            return  # most words end here, without a look at all private ones
        if (place := self._text.find(word)) >= 0:
            yield self._text[self._text.rfind("\n", 0, place) + 1 : self._text.find("\n", place)]

    def _inside(self, word: str) -> Iterator[str]:
        """The private words that are a part of this one."""
        for start, beginning in enumerate(_windows(word, INSIDE_CHARS_MIN)):
            if beginning in self._beginnings:
                ends = range(start + INSIDE_CHARS_MIN, len(word) + 1)
                yield from (word[start:end] for end in ends if word[start:end] in self._private_words)

    def _typed(self, message: str) -> set[str]:
        """The private words that numbers of a message type on the keys of a telephone."""
        numbers = keypad_numbers(message)
        return {
            word
            for word in (self._private_words if numbers else ())
            if len(word) >= KEYPAD_CHARS_MIN and word.isalpha() and keys_of(word) in numbers
        }

    def _pieced_together(self, words: Sequence[str], earlier: Iterable[str]) -> set[str]:
        new = {word for word in words if len(word) >= PIECE_CHARS_MIN}
        pieces = new | {word for text in earlier for word in words_of(text) if len(word) >= PIECE_CHARS_MIN}
        return {
            word
            for word in self._private_words
            if len(word) >= PIECED_CHARS_MIN
            and _is_made_of(word, pieces)
            and any(piece in word for piece in new)
        }

    def _is_harmless(self, word: str) -> bool:
        return word in self.allowed_words or self.common.has(word)


def _windows(word: str, size: int) -> Iterator[str]:
    """What stands in a word, a number of letters each."""
    return (word[start : start + size] for start in range(len(word) - size + 1))


def _is_made_of(word: str, pieces: Set[str]) -> bool:
    ends = [True] + [False] * len(word)
    for end in range(PIECE_CHARS_MIN, len(word) + 1):
        ends[end] = any(
            ends[start] and word[start:end] in pieces for start in range(end - PIECE_CHARS_MIN + 1)
        )
    return ends[-1]
