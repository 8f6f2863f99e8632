"""The sentences of an answer and their citations: addresses, numbers of the answer's own list of sources, ids of facts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from chiron_workers.evidence.quotes.sentences import sentence_breaks

ANSWER_CHARS_MAX = 100_000  # that are looked at
SENTENCE_CHARS_MAX = 4_000  # in which addresses are looked for
PLACES_MAX = 100  # that one mark names
HYPHENS_OF_AN_ID = 4
SOURCES_HEADS = frozenset({"sources", "references", "quellen", "literatur", "bibliography", "works cited"})
_URL = re.compile(
    r"https?://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?'\"]|corpus://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?'\"]"
)
_PLACE = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_PLACE_MARK = re.compile(r"\[(\d{1,3})\]:?")
_PLACE_MARK_OF_LIST = re.compile(r"\[?(\d{1,3})(?:\]:?|[.)]:?)")  # below the heading of a list of sources
_LINE_MARKS = re.compile(r"(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+|>\s?)*")
_FACT_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer as the answer has it, with the addresses and the ids of facts that it names."""

    text: str
    addresses: tuple[str, ...]
    fact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SaidAnswer:
    """The sentences of an answer. `places` are the addresses of its own list of sources, by their numbers there.

    `listed_addresses` are in that list without a number.
    """

    sentences: tuple[CitedSentence, ...]
    places: Mapping[str, str]
    listed_addresses: tuple[str, ...]

    @property
    def has_citations(self) -> bool:
        """Whether it names any source or fact."""
        return bool(
            self.places
            or self.listed_addresses
            or any(sentence.addresses or sentence.fact_ids for sentence in self.sentences)
        )


def read_answer(answer: str) -> SaidAnswer:
    """Cut an answer into sentences, each with its citations; its list of sources is left out."""
    texts, places, listed_addresses = _lines_read(answer[:ANSWER_CHARS_MAX])
    sentences = tuple(CitedSentence(text, _addresses_of(text, places), _fact_ids_of(text)) for text in texts)
    return SaidAnswer(sentences, places, listed_addresses)


def said_sentences(answer: str) -> list[str]:
    """The sentences of an answer, each with the citation marks that follow it; a list of sources at its end is left out."""
    return _lines_read(answer)[0]


def without_places(text: str, places: Mapping[str, str]) -> str:
    """A sentence without the numbers of the answer's own list of sources, which are not those of the report."""
    if not places:
        return " ".join(text.split())
    return " ".join(
        _PLACE.sub(
            lambda mark: "" if any(number in places for number in _numbers(mark[1])) else mark[0], text
        ).split()
    )


def without_citations(text: str) -> str:
    """The first `SENTENCE_CHARS_MAX` characters of a sentence without addresses and numbers of sources."""
    return _PLACE.sub(" ", _URL.sub(" ", text[:SENTENCE_CHARS_MAX]))


def _lines_read(answer: str) -> tuple[list[str], dict[str, str], tuple[str, ...]]:
    sentences: list[str] = []
    places: dict[str, str] = {}
    listed_addresses: list[str] = []
    is_below_head = False
    for line in answer.splitlines():
        words = line.strip()
        if words.strip(" #*_:.-").casefold() in SOURCES_HEADS:
            is_below_head = True
        elif place := _place_of(line, is_below_head=is_below_head):
            places.setdefault(*place)
        elif is_below_head and (urls := _URL.findall(words[:SENTENCE_CHARS_MAX])):
            listed_addresses += urls
        else:
            is_below_head = is_below_head and not words
            _add_sentences(sentences, _LINE_MARKS.sub("", words, count=1).strip())
    return sentences, places, tuple(listed_addresses)


def _add_sentences(sentences: list[str], prose: str) -> None:
    breaks = sentence_breaks(prose) if prose else []
    for n, (start, end) in enumerate(pairwise(breaks)):
        piece = prose[start:end].strip()
        if n and piece and all(map(_is_mark, piece.split())):
            sentences[-1] += f" {piece}"
        elif piece:
            sentences.append(piece)


def _is_mark(word: str) -> bool:
    return "://" in word or not any(map(str.isalpha, word))


def _place_of(line: str, *, is_below_head: bool) -> tuple[str, str] | None:
    """The number and the address of an entry in an answer's own list of sources; None for another line."""
    words = line.strip(" -*").split()
    pattern = _PLACE_MARK_OF_LIST if is_below_head else _PLACE_MARK
    match = pattern.fullmatch(words[0]) if words else None
    if match is None or len(words) < 2 or "://" not in line:  # the mark and an address
        return None
    last = words[-1].strip("<>()")
    urls = _URL.findall(line[-SENTENCE_CHARS_MAX:])
    return (match[1], last) if "://" in last and not is_below_head else (match[1], urls[-1]) if urls else None


def _addresses_of(text: str, places: Mapping[str, str]) -> tuple[str, ...]:
    words = text[:SENTENCE_CHARS_MAX]
    urls = _URL.findall(words) if "://" in words else []
    if places:
        numbers = [number for mark in _PLACE.findall(words) for number in _numbers(mark)]
        urls += [places[number] for number in numbers if number in places]
    return tuple(dict.fromkeys(urls))


def _numbers(mark: str) -> Iterator[str]:
    """The numbers of a mark such as 1, 3-5."""
    for part in re.split(r"\s*[,;]\s*", mark):
        first, *ends = re.split(r"\s*[–-]\s*", part)
        last = min(int(ends[-1]), int(first) + PLACES_MAX) if ends else int(first)
        yield from map(str, range(int(first), last + 1))


def _fact_ids_of(text: str) -> tuple[str, ...]:
    words = text[:SENTENCE_CHARS_MAX]
    if words.count("-") < HYPHENS_OF_AN_ID:  # most sentences: a fraction of what looking for ids takes
        return ()
    return tuple(dict.fromkeys(fact_id.lower() for fact_id in _FACT_ID.findall(words)))
