"""A statement taken apart: its content words in order, names, negations, hedges and conditions, beside its figures."""

import re
from dataclasses import dataclass
from functools import lru_cache

from chiron_workers.evidence.figures.dates import Moment
from chiron_workers.evidence.figures.figures import Figures, figures
from chiron_workers.evidence.statements.tokens import Reading, Word
from chiron_workers.evidence.vocabulary import (
    ENGLISH,
    FOREIGN,
    HEDGES,
    PARTICLES,
    PHRASE_OPENERS,
    PHRASES,
    RESTRICTIONS,
)

_TOKEN = re.compile(r"\x00[nd]|[,;]|[^\W_]+(?:[.&'-][^\W_]+)*[+#]*")
PHRASES_MAX = 3  # that open a sentence
_PHRASE = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.I)
_ONE_WORD = {"when": "if", "whenever": "if", "chiefly": "mainly", "solely": "only", "exclusively": "only"}
_PROSE = frozenset(" .,;:!?'\"()[]-\x00")
_LEADING_PHRASE = re.compile(r"^([A-Z]\w*)((?: [^,;:]+)?), (?!(?:and|or|but)\b)(.+?)([.!?]?)$", re.S)
_ACCENTS = str.maketrans("áàâäãåéèêëíìîïóòôöõúùûüñç", "aaaaaaeeeeiiiiooooouuuunc")


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
    reading = Reading()
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


def _is_english(text: str, lowered: list[str]) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    if sum(letter > "\u024f" for letter in letters) > 0.1 * len(letters):
        return False
    foreign = sum(word in FOREIGN for word in lowered)
    return foreign <= sum(word in ENGLISH for word in lowered)
