"""The statements worth keeping: the best sentences, once each, with who else says so and who says otherwise."""

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

from chiron_workers.offline.researcher.sentences import DEPENDENT_START, Sentence, sentences
from chiron_workers.offline.researcher.source_scores import source_score
from chiron_workers.offline.researcher.words import pairs, terms

FINDINGS_MAX = 6
_PER_DOCUMENT = 4
_ALIKE = 0.6  # Jaccard similarity of the terms from which two sentences count as one statement
_COMPARED_MAX = 300
_NEAR_BEST = 0.4  # share of the best score that a sentence needs
_COVERAGE_MIN = 0.4  # share of the topic; half of it where two of its words stand side by side
_K1, _B = 1.2, 0.75  # BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*%?")
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|cannot|without)\b|n['’]t\b", re.I)
# How clearly a sentence speaks for itself: not if it leans on its neighbours, asks, or refers elsewhere.
_CLARITY = {
    re.compile(pattern): weight
    for pattern, weight in {
        r"\b(?:is|are|was|were|means|refers to|consists? of|returns?|provides?|allows?|causes?|defines?)\b": 0.15,
        DEPENDENT_START.pattern: -0.4,
        r"(?i)^(?!.*\b(?:is|are|was|were|be|has|have|had|do|does|did|can|could|may|might|must|shall|should|will|would"
        r"|[a-z]+[a-rt-z](?:s|ed))\b)": -0.3,  # no verb, as far as one can tell
        r"\?$": -0.3,
        r"(?i)\b(?:see|section|chapter|below|above|following|previous)\b": -0.2,
        r"\]\(|http": -0.2,
    }.items()
}


@dataclass(frozen=True, slots=True)
class Document:
    """A fetched source with its parts, as they came."""

    url: str
    title: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a document with how well it answers, best is highest.

    `coverage` is the share of the topic, 0 to 1, that stands in the sentence or in the title and heading above it.
    """

    sentence: Sentence
    document: Document
    score: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement with its source; `corroborations` and `contradictions` are other documents' versions of it."""

    sentence: Sentence
    document: Document
    corroborations: list[Candidate]
    contradictions: list[Candidate]

    @property
    def confidence(self) -> float:
        """Corroborations x mean source score / assertions, at most 1.

        Corroborations are the documents that say it, assertions are those and the ones that say otherwise.
        """
        documents = [self.document, *(version.document for version in self.corroborations)]
        scores = [source_score(document.url) for document in documents]
        return round(min(1.0, sum(scores) / (len(scores) + len(self.contradictions))), 3)


def rank(documents: Sequence[Document], topic: str) -> list[Candidate]:
    """The sentences that say something about a topic, best first."""
    pool = [(sentence, page) for page in documents for text in page.texts for sentence in sentences(text)]
    counts = Counter(term for sentence, _ in pool for term in sentence.terms)
    rarities = {term: (len(pool) + 1) / (counts[term] + 0.5) for term in terms(topic)}
    weights = {term: 1 + 0.5 * math.log(rarity) for term, rarity in rarities.items()}
    topic_pairs, total = pairs(topic), sum(weights.values()) or 1.0
    mean_terms = counts.total() / len(pool) if pool else 1.0
    candidates = []
    for sentence, document in pool:
        nearby_terms = {*terms(f"{document.title} {sentence.heading}")} - sentence.terms
        inside = sum(weight for term, weight in weights.items() if term in sentence.terms)
        nearby = sum(weight for term, weight in weights.items() if term in nearby_terms)
        coverage = (inside + nearby) / total
        shared_pairs = len(topic_pairs & sentence.pairs)
        if inside and coverage >= (_COVERAGE_MIN / 2 if shared_pairs else _COVERAGE_MIN):
            saturation = _K1 * (1 - _B + _B * len(sentence.terms) / mean_terms)
            score = inside * (_K1 + 1) / (1 + saturation) + 0.6 * nearby + shared_pairs
            candidates.append(Candidate(sentence, document, score * _clarity(sentence), coverage))
    return sorted(candidates, key=lambda item: (-item.score, item.document.url, item.sentence.position))


def findings(
    documents: Sequence[Document],
    topic: str,
    *,
    known_texts: Set[str],
    topic_texts: Set[str] = frozenset(),
) -> list[Finding]:
    """Up to FINDINGS_MAX statements about a topic, those that lean on others last.

    Args:
        known_texts: What is not found again.
        topic_texts: What is known on this topic: its documents have said so much of it.
    """
    ranking = rank(documents, topic)[:_COMPARED_MAX]
    near_best = [item for item in ranking if item.score >= _NEAR_BEST * ranking[0].score]
    statements: list[Finding] = []
    counts = Counter(item.document.url for item in near_best if item.sentence.text in topic_texts)
    for candidate in sorted(near_best, key=lambda item: bool(DEPENDENT_START.match(item.sentence.text))):
        sentence, url = candidate.sentence, candidate.document.url
        if len(statements) == FINDINGS_MAX:
            break
        is_repeated = any(_is_alike(sentence, other.sentence, opposed=False) for other in statements)
        if counts[url] < _PER_DOCUMENT and not is_repeated and sentence.text not in known_texts:
            # A copy of the whole document is no second source.
            rivals = [
                item
                for item in ranking
                if item.document.url != url and item.document.texts != candidate.document.texts
            ]
            agreeing, opposing = (
                {
                    item.document.url: item
                    for item in rivals
                    if _is_alike(sentence, item.sentence, opposed=opposed)
                }
                for opposed in (False, True)
            )
            counts[url] += 1
            statements.append(
                Finding(sentence, candidate.document, [*agreeing.values()], [*opposing.values()])
            )
    return statements


def _clarity(sentence: Sentence) -> float:
    """Between 0.5 and about 1.5; what comes early in a text counts for more."""
    weights = [weight for pattern, weight in _CLARITY.items() if pattern.search(sentence.text)]
    return max(0.5, 1 + 0.25 / (1 + sentence.position) + sum(weights))


def _is_alike(first: Sentence, second: Sentence, *, opposed: bool) -> bool:
    """Whether two sentences speak of the same in nearly the same words; `opposed`: with other figures, or denied."""
    figures, other_figures = (set(_NUMBER.findall(sentence.text)) for sentence in (first, second))
    is_denied = bool(_NEGATION.search(first.text)) != bool(_NEGATION.search(second.text))
    is_opposed = is_denied or bool(figures and other_figures and figures != other_figures)
    union = first.terms | second.terms
    return is_opposed == opposed and len(first.terms & second.terms) >= _ALIKE * len(union)
