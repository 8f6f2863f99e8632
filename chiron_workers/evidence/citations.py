"""What the sentences of an answer cite: the addresses that they name, and the facts of those sources that they state."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chiron_workers.evidence.figures.figures import plain
from chiron_workers.evidence.quotes.sentences import sentence_breaks
from chiron_workers.evidence.quotes.text_units import SPACELESS
from chiron_workers.evidence.statements.stems import stem_of
from chiron_workers.evidence.vocabulary import SILENT

ANSWER_CHARS_MAX = 100_000  # that are looked at
SENTENCE_CHARS_MAX = 4_000  # in which addresses are looked for
SENTENCES_MAX = 1_000  # whose facts are looked for
PLACES_MAX = 100  # that one mark names
SOURCES_HEADS = frozenset({"sources", "references", "quellen", "literatur", "bibliography", "works cited"})
# The overlap coefficient (Szymkiewicz and Simpson) of two statements, from which one states the other. Terms weigh as they are
# rare among the facts of the source (inverse document frequency), so what all of them say decides nothing.
OVERLAP_MIN = 0.5
# Of the terms of the fact that a sentence states best, in weight: a sentence may state several.
SHARE_OF_BEST_MIN = 0.5
# Where no fact reaches it, the best one counts from here on: the sentence does cite the source for something.
LOOSE_OVERLAP_MIN = 0.25

_URL = re.compile(
    r"https?://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?'\"]|corpus://[^\s<>()\[\]]+[^\s<>()\[\].,;:!?'\"]"
)
_PLACE = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_PLACE_MARK = re.compile(r"\[(\d{1,3})\]:?")
_PLACE_MARK_OF_LIST = re.compile(r"\[?(\d{1,3})(?:\]:?|[.)]:?)")  # below the heading of a list of sources
_LINE_MARKS = re.compile(r"(?:#{1,6}\s+|[-*+]\s+|\d{1,3}[.)]\s+|>\s?)*")
_FACT_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[.,'\u2019 ]\d{3})*(?:[.,]\d+)?")
_WORD = re.compile(r"[^\W\d_]+")
_NO_DIGIT = re.compile(r"\D")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer as the answer has it, with the addresses and the ids of facts that it names."""

    text: str
    addresses: tuple[str, ...]
    fact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SaidAnswer:
    """The sentences of an answer. `places` are the addresses of its own list of sources, by their numbers there.

    `listed_addresses` stand in that list without a number.
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


@dataclass(frozen=True, slots=True)
class SourcedFact:
    """A fact with the addresses of all its sources."""

    fact_id: str
    content: str
    addresses: Collection[str]


def read_answer(answer: str) -> SaidAnswer:
    """Cut an answer into sentences, each with what it cites; its list of sources is no sentence."""
    texts, places, listed_addresses = _lines_read(answer[:ANSWER_CHARS_MAX])
    sentences = tuple(CitedSentence(text, _addresses_of(text, places), _fact_ids_of(text)) for text in texts)
    return SaidAnswer(sentences, places, listed_addresses)


def said_sentences(answer: str) -> list[str]:
    """The sentences of an answer, each with the citation marks that follow it; a list of sources at its end is left out."""
    return _lines_read(answer)[0]


def without_places(text: str, places: Mapping[str, str]) -> str:
    """A sentence without the numbers of the answer's own list of sources, which are not those of the report."""
    return " ".join(
        _PLACE.sub(
            lambda mark: "" if any(number in places for number in _numbers(mark[1])) else mark[0], text
        ).split()
    )


def cited_facts(
    answer: SaidAnswer, facts: Sequence[SourcedFact], *, address: Callable[[str], str]
) -> frozenset[str]:
    """The facts that an answer cites: a sentence names their source and states them, or names their id.

    Args:
        address: Gives an address the form in which those of facts are stored.
    """
    sources, known_ids = _sources(facts), {fact.fact_id for fact in facts}
    named_addresses = {address(url) for sentence in answer.sentences for url in sentence.addresses}
    list_addresses = {address(url) for url in (*answer.places.values(), *answer.listed_addresses)}
    unnamed_addresses = (list_addresses - named_addresses) & sources.keys()
    fact_ids: set[str] = set()
    for sentence in answer.sentences[:SENTENCES_MAX]:
        fact_ids |= known_ids.intersection(sentence.fact_ids)
        # A source of the list that no sentence names may be for any of those that name none.
        addresses = {address(url) for url in sentence.addresses} or unnamed_addresses
        if sources_of_sentence := [sources[url] for url in addresses if url in sources]:
            terms, is_cited_here = _terms(sentence.text), bool(sentence.addresses)
            for source in sources_of_sentence:
                fact_ids |= source.facts_stated_by(terms, is_cited_here=is_cited_here)
    return frozenset(fact_ids)


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
    numbers = [number for mark in _PLACE.findall(words) for number in _numbers(mark)]
    return tuple(dict.fromkeys([*_URL.findall(words), *(places[n] for n in numbers if n in places)]))


def _numbers(mark: str) -> Iterator[str]:
    """The numbers of a mark such as 1, 3-5."""
    for part in re.split(r"\s*[,;]\s*", mark):
        first, *ends = re.split(r"\s*[–-]\s*", part)
        last = min(int(ends[-1]), int(first) + PLACES_MAX) if ends else int(first)
        yield from map(str, range(int(first), last + 1))


def _fact_ids_of(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fact_id.lower() for fact_id in _FACT_ID.findall(text[:SENTENCE_CHARS_MAX])))


class _Source:
    """The facts of one source, found by their terms."""

    def __init__(self, facts: Sequence[tuple[str, frozenset[str]]]) -> None:
        self._fact_ids_by_term: dict[str, list[str]] = {}
        for fact_id, terms in facts:
            for term in terms:
                self._fact_ids_by_term.setdefault(term, []).append(fact_id)
        self._weights = {
            term: math.log(1 + len(facts) / len(fact_ids))
            for term, fact_ids in self._fact_ids_by_term.items()
        }
        self._fact_weights = {fact_id: self._weight(terms) for fact_id, terms in facts}

    def facts_stated_by(self, terms: Collection[str], *, is_cited_here: bool) -> set[str]:
        """The facts that a sentence of these terms states, which cites the source, or may."""
        shared_weights = defaultdict[str, float](float)
        for term in terms:
            for fact_id in self._fact_ids_by_term.get(term, ()):
                shared_weights[fact_id] += self._weights[term]
        if not shared_weights:
            return set()
        if len(self._fact_weights) == 1 and is_cited_here:
            return set(shared_weights)
        sentence_weight, best_weight = self._weight(terms), max(shared_weights.values())
        overlaps = {
            fact_id: weight / min(sentence_weight, self._fact_weights[fact_id])
            for fact_id, weight in shared_weights.items()
            if weight >= SHARE_OF_BEST_MIN * best_weight
        }
        stated_ids = {fact_id for fact_id, overlap in overlaps.items() if overlap >= OVERLAP_MIN}
        if stated_ids or not is_cited_here:
            return stated_ids
        best_ids = [fact_id for fact_id, weight in shared_weights.items() if weight == best_weight]
        return set(best_ids) if len(best_ids) == 1 and overlaps[best_ids[0]] >= LOOSE_OVERLAP_MIN else set()

    def _weight(self, terms: Collection[str]) -> float:
        """What terms weigh; those that no fact of the source has weigh nothing."""
        return sum(self._weights.get(term, 0.0) for term in terms)


def _sources(facts: Sequence[SourcedFact]) -> dict[str, _Source]:
    facts_by_address: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for fact in facts:
        terms = _terms(fact.content)
        for address in dict.fromkeys(fact.addresses):
            facts_by_address.setdefault(address, []).append((fact.fact_id, terms))
    return {address: _Source(facts_of_source) for address, facts_of_source in facts_by_address.items()}


def _terms(text: str) -> frozenset[str]:
    """The numbers, the stems of the content words and, of scripts without spaces, the pairs of characters."""
    words = plain(_PLACE.sub(" ", _URL.sub(" ", text[:SENTENCE_CHARS_MAX])))
    numbers = {f"#{_NO_DIGIT.sub('', number)}" for number in _NUMBER.findall(words)}
    stems, pairs = set[str](), set[str]()
    for word in _WORD.findall(words.casefold()):
        if SPACELESS.search(word):
            pairs.update(first + second for first, second in pairwise(word))
        elif word not in SILENT and len(word) > 1:
            stems.add(stem_of(word))
    return frozenset(numbers | stems | pairs)
