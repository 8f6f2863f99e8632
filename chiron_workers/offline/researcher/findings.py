"""The statements worth keeping: the best sentences, once each, with who else says so and who says otherwise."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chiron_workers.offline.researcher.documents import Document
from chiron_workers.offline.researcher.ranking import RankedSentence, rank
from chiron_workers.offline.researcher.sentences import Sentence
from chiron_workers.offline.researcher.source_scores import source_score

FINDINGS_MAX = 6
_PER_DOCUMENT = 4
_ALIKE = 0.6  # Jaccard similarity of the terms from which two sentences count as one statement
_COMPARED_MAX = 300
_NEAR_BEST = 0.4  # share of the best score that a sentence needs
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*%?")
_NEGATION = re.compile(r"\b(?:not|no|never|none|neither|nor|cannot|without)\b|n['’]t\b", re.I)


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement with its source; `corroborations` and `contradictions` are other documents' versions of it."""

    sentence: Sentence
    document: Document
    corroborations: tuple[RankedSentence, ...]
    contradictions: tuple[RankedSentence, ...]

    @property
    def source_score(self) -> float:
        """How far the source is to be trusted, 0 to 1."""
        return source_score(self.document.url)

    @property
    def confidence(self) -> float:
        """Corroborations x mean source score / assertions, at most 1.

        Corroborations are the documents that say it, assertions are those and the ones that say otherwise.
        """
        scores = [self.source_score, *(source_score(ranked.document.url) for ranked in self.corroborations)]
        assertions = len(scores) + len(self.contradictions)
        return round(min(1.0, sum(scores) / assertions), 3)


def findings(documents: Sequence[Document], topic: str, *, known_texts: frozenset[str]) -> list[Finding]:
    """Up to FINDINGS_MAX statements about a topic, best first; `known_texts` are not found again."""
    ranking = rank(documents, topic)[:_COMPARED_MAX]
    ranking = [ranked for ranked in ranking if ranked.score >= _NEAR_BEST * ranking[0].score]
    statements: list[Finding] = []
    for candidate in ranking:
        if len(statements) == FINDINGS_MAX:
            break
        same_document = [finding for finding in statements if finding.document.url == candidate.document.url]
        is_repeated = any(_repeats(candidate.sentence, finding.sentence) for finding in statements)
        if len(same_document) >= _PER_DOCUMENT or is_repeated or candidate.sentence.text in known_texts:
            continue
        versions = _versions(candidate, ranking)
        contradictions = tuple(
            version for version in versions if _opposes(candidate.sentence, version.sentence)
        )
        corroborations = tuple(version for version in versions if version not in contradictions)
        statements.append(Finding(candidate.sentence, candidate.document, corroborations, contradictions))
    return statements


def _versions(candidate: RankedSentence, ranking: Sequence[RankedSentence]) -> list[RankedSentence]:
    """The same statement in other documents, once each; a copy of the whole document is no second source."""
    by_url: dict[str, RankedSentence] = {}
    for version in ranking:
        is_copy = version.document.texts == candidate.document.texts
        is_elsewhere = version.document.url != candidate.document.url and not is_copy
        if is_elsewhere and _is_alike(candidate.sentence, version.sentence):
            by_url.setdefault(version.document.url, version)
    return list(by_url.values())


def _is_alike(first: Sentence, second: Sentence) -> bool:
    if not first.terms or not second.terms:
        return first.text == second.text
    return len(first.terms & second.terms) / len(first.terms | second.terms) >= _ALIKE


def _repeats(first: Sentence, second: Sentence) -> bool:
    """Whether two sentences make the same statement; two that contradict each other make two."""
    return _is_alike(first, second) and not _opposes(first, second)


def _opposes(first: Sentence, second: Sentence) -> bool:
    """Whether two nearly equal sentences have other figures, or one of them denies what the other says."""
    figures, other_figures = set(_NUMBER.findall(first.text)), set(_NUMBER.findall(second.text))
    is_denied = bool(_NEGATION.search(first.text)) != bool(_NEGATION.search(second.text))
    return is_denied or bool(figures and other_figures and figures != other_figures)
