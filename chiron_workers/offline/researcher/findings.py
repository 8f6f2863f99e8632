"""The statements worth keeping: the best sentences, once each, with who else says so and who says otherwise."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chiron_workers.offline.researcher.bands import source_score
from chiron_workers.offline.researcher.material import Document
from chiron_workers.offline.researcher.ranking import Ranked, rank
from chiron_workers.offline.researcher.sentences import Sentence

FINDINGS_MAX = 6
_PER_DOCUMENT = 4
_SAME = 0.6  # Jaccard similarity of the terms from which two sentences count as one statement
_COMPARED_MAX = 300
_NEAR_BEST = 0.4  # share of the best score that a sentence needs
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*%?")
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|cannot|without)\b|n['’]t\b", re.I)


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement with its source; `agreeing` and `opposing` are other documents' versions of it."""

    sentence: Sentence
    document: Document
    agreeing: tuple[Ranked, ...]
    opposing: tuple[Ranked, ...]

    @property
    def source_score(self) -> float:
        """How far the source is to be trusted, 0 to 1."""
        return trust(self.document)

    @property
    def confidence(self) -> float:
        """Corroborations x mean source score / assertions, at most 1.

        Corroborations are the documents that say it, assertions are those and the ones that say otherwise.
        """
        scores = [trust(self.document), *(trust(ranked.document) for ranked in self.agreeing)]
        assertions = len(scores) + len(self.opposing)
        return round(min(1.0, len(scores) * (sum(scores) / len(scores)) / max(assertions, 1)), 3)


def findings(documents: Sequence[Document], topic: str, *, known: frozenset[str]) -> list[Finding]:
    """Up to FINDINGS_MAX statements about a topic, best first; `known` texts are not found again."""
    ranked = rank(documents, topic)[:_COMPARED_MAX]
    ranked = [one for one in ranked if one.score >= _NEAR_BEST * ranked[0].score]
    chosen: list[Finding] = []
    for candidate in ranked:
        if len(chosen) == FINDINGS_MAX:
            break
        crowded = sum(finding.document.url == candidate.document.url for finding in chosen) >= _PER_DOCUMENT
        told = any(_repeats(candidate.sentence, finding.sentence) for finding in chosen)
        if crowded or told or candidate.sentence.text in known:
            continue
        others = _elsewhere(candidate, ranked)
        opposing = tuple(other for other in others if _opposed(candidate.sentence, other.sentence))
        agreeing = tuple(other for other in others if other not in opposing)
        chosen.append(Finding(candidate.sentence, candidate.document, agreeing, opposing))
    return chosen


def trust(document: Document) -> float:
    """What the tools say of the document's standing, else what its address tells."""
    return source_score(document.url) if document.quality is None else document.quality


def _elsewhere(candidate: Ranked, ranked: Sequence[Ranked]) -> list[Ranked]:
    """The same statement in other documents, once each; a copy of the whole document is no second witness."""
    found: dict[str, Ranked] = {}
    for other in ranked:
        copied = other.document.texts == candidate.document.texts
        if (
            other.document.url != candidate.document.url
            and not copied
            and _alike(candidate.sentence, other.sentence)
        ):
            found.setdefault(other.document.url, other)
    return list(found.values())


def _alike(one: Sentence, other: Sentence) -> bool:
    if not one.terms or not other.terms:
        return one.text == other.text
    return len(one.terms & other.terms) / len(one.terms | other.terms) >= _SAME


def _repeats(one: Sentence, other: Sentence) -> bool:
    """The same statement; of two that contradict each other both are told."""
    return _alike(one, other) and not _opposed(one, other)


def _opposed(one: Sentence, other: Sentence) -> bool:
    """Nearly the same words, but other figures, or one of the two denies it."""
    figures, others = set(_NUMBER.findall(one.text)), set(_NUMBER.findall(other.text))
    denied = bool(_NEGATION.search(one.text)) != bool(_NEGATION.search(other.text))
    return denied or bool(figures and others and figures != others)
