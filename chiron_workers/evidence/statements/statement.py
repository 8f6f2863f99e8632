"""A statement in the parts that rules compare: content words in order, negations, hedges and limits, beside its figures."""

import re
from dataclasses import dataclass
from functools import cached_property

from chiron_workers.evidence.figures.dates import DateSpan
from chiron_workers.evidence.figures.figures import Figures, plain, read_figures
from chiron_workers.evidence.figures.qualifiers import BEFORE_CHARS
from chiron_workers.evidence.statements.slots import PlacedFigure
from chiron_workers.evidence.statements.tokens import DENIAL, TokenReader, Word
from chiron_workers.evidence.text_cache import cache_short_texts
from chiron_workers.evidence.vocabulary import CUES, ENGLISH, FOREIGN, PHRASES

_TOKEN = re.compile(r"\x00[nd]|[^\W_]+(?:[.&'-][^\W_]+)*[+#]*")
_PHRASE = re.compile(rf"\b(?:{'|'.join(PHRASES)})\b", re.I)
_ACCENTS = str.maketrans("áàâäãåéèêëíìîïóòôöõúùûüñç", "aaaaaaeeeeiiiiooooouuuunc")
# Before digits: "No. 5" denies nothing, and is the number 5 as "#5" and "№ 5" are.
_NUMBER_BEFORE = re.compile(r"(?:(?<![^\W_])(?:no|nos|number)\.? ?(?:# ?)?|[#№] ?)$", re.I)
_NUMBER_WITHOUT_SPACE = re.compile(r"(?<![^\W_])(nos?\.)(?=\d)", re.I)  # "No.5" is not .5
_NUMBERED = frozenset({"name", "count", "date"})  # "no 5 km run" is a denial
_TEXT_CHARS_MAX = 600  # of one that is kept: its parts take twenty times its size
_DENIED_WITHIN = 3  # words and figures behind a negation
# Pictures from the block of symbols on, but for crossed circles, thumbs and arms that deny; hearts, joiners and variants.
_PICTURES = (
    "\u2764\u200d\ufe0f\U0001f300-\U0001f44d\U0001f44f-\U0001f644\U0001f646-\U0001f6aa\U0001f6ac-\U0001faff"
)
_DECORATION = re.compile(rf"^[\s{_PICTURES}]+|[\s{_PICTURES}]+(?=[.!?]?\s*$)")


@dataclass(frozen=True)
class Statement:
    """The parts of a statement.

    `masked_text` is its text with a mark for each figure. `order` holds the stems of the content words and a mark for each
    number (#n) and date (#d), as they stand. `marks` are its negations (`not`), hedges and limiting words, each with
    how many entries of `order` stand before it.
    """

    masked_text: str
    figures: Figures
    words: tuple[Word, ...]
    order: tuple[str, ...]
    negations: tuple[str, ...]
    marks: tuple[tuple[str, int], ...]
    is_english: bool

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words."""
        return frozenset(word.stem for word in self.words)

    @cached_property
    def limits(self) -> frozenset[str]:
        """Its hedges and limiting words: may, only, unless."""
        return frozenset(word for word, _ in self.marks if word != DENIAL)

    @cached_property
    def cues(self) -> frozenset[str]:
        """Its words that limit what is said: only, except, unless."""
        return self.limits & CUES

    @cached_property
    def placed_figures(self) -> tuple[PlacedFigure, ...]:
        """Its figures with the words around them."""
        return tuple(PlacedFigure(figure, self.figures.text) for figure in self.figures.all)

    @cached_property
    def denied_stems(self) -> tuple[str, ...]:
        """The content word behind each negation."""
        places = (place for word, place in self.marks if word == DENIAL)
        following = (self.order[place : place + _DENIED_WITHIN] for place in places)
        stems = ([stem for stem in stretch if not stem.startswith("#")] for stretch in following)
        return tuple(stretch[0] for stretch in stems if stretch)


@cache_short_texts(texts_max=1_024, chars_max=_TEXT_CHARS_MAX)
def parse(text: str) -> Statement:
    """The parts of a statement."""
    text = _PHRASE.sub(lambda match: PHRASES[match[0].lower()], text)
    read = read_figures(_NUMBER_WITHOUT_SPACE.sub(r"\1 ", text))
    masked_text = _masked(read)
    tokens = _TOKEN.findall(masked_text)
    lower_tokens = [token.casefold().translate(_ACCENTS).removesuffix("'s") for token in tokens]
    reader = TokenReader()
    reader.read(tokens, lower_tokens)
    return Statement(
        plainly_written(masked_text),
        read,
        tuple(reader.words),
        tuple(reader.order),
        tuple(reader.negations),
        tuple(reader.marks),
        _is_english(read.text, lower_tokens),
    )


def plainly_written(text: str) -> str:
    """A text without the capital and the stop of a sentence; within it mW is not MW and Bar is not Bär."""
    words = " ".join(text.split()).removesuffix(".").rstrip()
    return words[:1].lower() + words[1:]


@dataclass(frozen=True, slots=True)
class Spelling:
    """A text as `plainly_written` gives it.

    `bare` is without the emoji around a sentence, but for one that denies, such as a crossed circle.
    """

    plain: str
    bare: str


@cache_short_texts(texts_max=1_024, chars_max=_TEXT_CHARS_MAX)
def spelling_of(text: str) -> Spelling:
    """How a statement is written."""
    text = plain(text)
    return Spelling(plainly_written(text), plainly_written(_DECORATION.sub("", text)))


def _masked(read: Figures) -> str:
    text = read.text
    for figure in reversed(read.all):
        mark = "d" if isinstance(figure, DateSpan) else "n"
        before = text[: figure.start]
        if figure.dimension in _NUMBERED and text[figure.start].isdecimal():
            tail = before[-BEFORE_CHARS:]
            before = before[: len(before) - len(tail)] + _NUMBER_BEFORE.sub("number", tail)
        text = f"{before} \x00{mark} {text[figure.end :]}"
    return text


def _is_english(text: str, lower_tokens: list[str]) -> bool:
    if not text.isascii():
        letters = [letter for letter in text if letter.isalpha()]
        if sum(letter > "\u024f" for letter in letters) > 0.1 * len(letters):
            return False
    foreign = sum(word in FOREIGN for word in lower_tokens)
    return foreign <= sum(word in ENGLISH for word in lower_tokens)
