"""Whether a quote bears a statement out, as far as rules can tell from their words alone."""

from dataclasses import dataclass
from itertools import pairwise

from chiron_workers.evidence.quotes.context import LEADS, may_turn
from chiron_workers.evidence.quotes.leading_marks import without_leading_marks
from chiron_workers.evidence.quotes.sentences import sentence_breaks
from chiron_workers.evidence.statements.comparison import compare
from chiron_workers.evidence.statements.relation import RelationVerdict, relate
from chiron_workers.evidence.statements.statement import parse
from chiron_workers.evidence.statements.unsupported import missing_figures
from chiron_workers.states import Decider, Relation, Verdict

SENTENCES_MAX = 20  # of a statement or a quote that are compared
SENTENCE_CHARS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on one statement and its quote, and the reason for it in a sentence.

    `judge` is who reached it: `rules`, or the name of a model; empty where nobody did.
    """

    verdict: Verdict = Verdict.UNCHECKED
    reason: str = ""
    judge: str = ""


UNCHECKED = Finding()


def judge_by_rules(statement: str, quote: str, context: str = "") -> Finding | None:
    """The verdict of the rules; None where they reach none and somebody who understands both has to be asked.

    A sentence of the quote that cannot be true beside the statement contradicts it. A number or date that stands neither
    in the quote nor in its context leaves it partly supported. It is supported where each of its sentences is one of the
    quote, in other notation and without a list's mark before it at most, and the context does not take that back. Takes
    dozens of milliseconds for long texts.
    """
    statement_sentences, quote_sentences = _sentences(statement), _sentences(quote)
    if not (statement_sentences and quote_sentences):
        return None
    relations = [[_relate(ours, theirs) for theirs in quote_sentences] for ours in statement_sentences]
    is_repeated = [any(verdict.relation is Relation.SAME for verdict in row) for row in relations]
    # What the quote shows need not be looked for in its context.
    figures = missing_figures(statement, quote) and missing_figures(statement, f"{context} {quote}")
    for ours, row, is_same in zip(statement_sentences, relations, is_repeated, strict=True):
        for theirs, verdict in zip(quote_sentences, row, strict=True):
            if verdict.relation is not Relation.CONTRADICTS or is_same:
                continue
            # Another sentence of the quote may have the statement's figure.
            if figures or not compare(parse(ours), parse(theirs)).different_slots:
                reason = f"The quote says otherwise: {verdict.reason.rstrip('.')}."
                return Finding(Verdict.CONTRADICTED, reason, Decider.RULES)
    if figures:
        return Finding(Verdict.PARTLY, f"The quote does not say {', '.join(figures)}.", Decider.RULES)
    if all(is_repeated) and not _leaves_open(context):
        return Finding(Verdict.SUPPORTED, "The statement's words stand in the quote.", Decider.RULES)
    return None


def judge_unasked(statement: str, context: str, reason: str) -> Finding:
    """The verdict where the rules reach none and nobody answers; `reason` says why nobody does."""
    if may_turn(context) and not may_turn(statement):
        reason = f'The source may take it back: it stands beside "{context}".'
        return Finding(Verdict.PARTLY, reason, Decider.RULES)
    return Finding(Verdict.UNCHECKED, reason)


def _leaves_open(context: str) -> bool:
    return may_turn(context) or context.endswith(LEADS)


def _relate(statement: str, sentence: str) -> RelationVerdict:
    """How a sentence of the statement relates to one of the quote, which may begin with a bullet or a list's number."""
    words = without_leading_marks(sentence)
    verdict = relate(statement, sentence)
    return verdict if words == sentence or verdict.relation is Relation.SAME else relate(statement, words)


def _sentences(text: str) -> list[str]:
    breaks = sentence_breaks(text) if text.strip() else []
    pieces = [text[start:end].strip() for start, end in pairwise(breaks)]
    sentences = [piece for piece in pieces if piece]
    is_comparable = (
        len(sentences) <= SENTENCES_MAX and max(map(len, sentences), default=0) <= SENTENCE_CHARS_MAX
    )
    return sentences if is_comparable else []
