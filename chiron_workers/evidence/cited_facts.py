"""The facts that an answer cites: a sentence names their source and states them."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chiron_workers.evidence.citations import SaidAnswer, without_citations
from chiron_workers.evidence.figures.figures import plain
from chiron_workers.evidence.quotes.text_units import SPACELESS
from chiron_workers.evidence.statements.stems import stem_of
from chiron_workers.evidence.vocabulary import SILENT

SENTENCES_MAX = 1_000  # whose facts are looked for
# The overlap coefficient (Szymkiewicz and Simpson) of two statements, from which one states the other. Terms weigh as they are
# rare among the facts of the source (inverse document frequency), so what all of them say decides nothing.
OVERLAP_MIN = 0.5
# Of the terms of the fact that a sentence states best, in weight: a sentence may state several.
SHARE_OF_BEST_MIN = 0.5
# Where no fact reaches it, the best one counts from here on: the sentence does cite the source for something.
LOOSE_OVERLAP_MIN = 0.25

_NUMBER = re.compile(r"\d+(?:[.,'\u2019 ]\d{3})*(?:[.,]\d+)?")
_WORD = re.compile(r"[^\W\d_]+")
_NO_DIGIT = re.compile(r"\D")


@dataclass(frozen=True, slots=True)
class SourcedFact:
    """A fact with the addresses of all its sources."""

    fact_id: str
    content: str
    addresses: Collection[str]


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
    words = plain(without_citations(text))
    numbers = {f"#{_NO_DIGIT.sub('', number)}" for number in _NUMBER.findall(words)}
    stems, pairs = set[str](), set[str]()
    for word in _WORD.findall(words.casefold()):
        if SPACELESS.search(word):
            pairs.update(first + second for first, second in pairwise(word))
        elif word not in SILENT and len(word) > 1:
            stems.add(stem_of(word))
    return frozenset(numbers | stems | pairs)
