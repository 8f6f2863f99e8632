"""Which sentences answer a topic: BM25 over the fetched sentences, and how clearly each speaks for itself."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from chiron_workers.offline.researcher.documents import Document
from chiron_workers.offline.researcher.sentences import Sentence
from chiron_workers.offline.researcher.words import pairs, terms, topic_terms

_K1, _B = 1.2, 0.75  # BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009)
_COVERAGE_MIN = 0.4  # share of the topic; half of it where two of its words stand side by side
_DEFINES = re.compile(
    r"\b(?:is|are|was|were|means|refers to|consists? of|returns?|provides?|allows?|causes?|defines?)\b"
)
_LEANS = re.compile(
    r"^(?:it|its|this|these|that|those|they|he|she|his|her|their|such|however|but|and|or|so|thus|then|also|therefore"
    r"|otherwise|for example|for instance|in this case|note that|here|see|both|the (?:same|following|above|latter|former))\b",
    re.I,
)
_REFERS = re.compile(r"\b(?:see|section|chapter|below|above|following|previous)\b", re.I)


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence of a document with how well it answers, best is highest.

    `coverage` is the share of the topic, 0 to 1, that stands in the sentence or in the title and heading above it.
    """

    sentence: Sentence
    document: Document
    score: float
    coverage: float


def rank(documents: Sequence[Document], topic: str) -> list[RankedSentence]:
    """The sentences that say something about a topic, best first."""
    topic_pairs = pairs(topic)
    pool = [(sentence, document) for document in documents for sentence in document.sentences]
    weights = _weights([sentence for sentence, _ in pool], topic_terms(topic))
    total = sum(weights.values()) or 1.0
    mean_terms = sum(len(sentence.terms) for sentence, _ in pool) / len(pool) if pool else 1.0
    ranking: list[RankedSentence] = []
    for sentence, document in pool:
        around = set(terms(f"{document.title} {sentence.heading}")) - sentence.terms
        inside = sum(weight for term, weight in weights.items() if term in sentence.terms)
        nearby = sum(weight for term, weight in weights.items() if term in around)
        coverage = (inside + nearby) / total
        shared_pairs = len(topic_pairs & sentence.pairs)
        if inside and coverage >= (_COVERAGE_MIN / 2 if shared_pairs else _COVERAGE_MIN):
            saturation = _K1 * (1 - _B + _B * len(sentence.terms) / mean_terms)
            score = inside * (_K1 + 1) / (1 + saturation) + 0.6 * nearby + shared_pairs
            ranking.append(RankedSentence(sentence, document, score * _clarity(sentence), coverage))
    return sorted(ranking, key=lambda result: (-result.score, result.document.url, result.sentence.position))


def _weights(pool: Sequence[Sentence], topic: Sequence[str]) -> dict[str, float]:
    """How much each term of the topic tells, from how rare it is among the sentences; never nothing."""
    counts = Counter(term for sentence in pool for term in sentence.terms)
    size = len(pool)
    return {
        term: 1 + 0.5 * math.log(1 + (size - counts[term] + 0.5) / (counts[term] + 0.5)) for term in topic
    }


def _clarity(sentence: Sentence) -> float:
    """Between 0.5 and about 1.5: early sentences that define something, not ones that lean on their neighbours."""
    clarity = 1 + 0.25 / (1 + sentence.position)
    if _DEFINES.search(sentence.text):
        clarity += 0.15
    if _LEANS.match(sentence.text):
        clarity -= 0.4
    if sentence.text.endswith("?"):
        clarity -= 0.3
    if _REFERS.search(sentence.text):
        clarity -= 0.2
    if "](" in sentence.text or "http" in sentence.text:
        clarity -= 0.2
    return max(clarity, 0.5)
