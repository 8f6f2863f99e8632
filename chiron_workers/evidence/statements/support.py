"""What rules can tell of a statement and its quote from their words alone: doubts, and whether the words are the same.

Rules never confirm. That a statement's words stand in its quote says nothing about what stands around the quote, so only
somebody who reads both finds that the quote supports the statement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chiron_workers.evidence.quotes.context import may_turn
from chiron_workers.evidence.quotes.leading_marks import without_leading_marks
from chiron_workers.evidence.statements.comparison import compare
from chiron_workers.evidence.statements.relation import RelationVerdict, relate
from chiron_workers.evidence.statements.statement import parse
from chiron_workers.evidence.statements.unsupported import missing_figures, missing_in_window
from chiron_workers.evidence.statements.wording import comparable_sentences
from chiron_workers.states import Decider, Relation, Verdict

CONTEXT_CHARS_MAX = 300  # of the reason for a doubt


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict on one statement and its quote, and the reason for it in a sentence.

    `judge` is who reached it: `rules`, or the name of a model; empty where nobody did.
    """

    verdict: Verdict = Verdict.UNCHECKED
    reason: str = ""
    judge: str = ""


UNCHECKED = Finding()


def judge_by_rules(statement: str, quote: str, context: str = "", window: str = "") -> Finding | None:
    """The doubt of the rules, `contradicted` or `partly`; None where they have none, which says nothing in its favour.

    It is that of `compare_words`, or a context that may take the quote back. Where a model can be asked, its answer counts and
    this is a hint. Takes dozens of milliseconds for long texts.

    Args:
        window: What a reader sees around the quote. A figure may stand there; what takes a quote back has to be in its context.
    """
    if doubt := compare_words(statement, quote, context, window):
        return doubt
    if may_turn(context) and not may_turn(statement):
        reason = f'The source may take it back: it stands beside "{context[:CONTEXT_CHARS_MAX]}".'
        return Finding(Verdict.PARTLY, reason, Decider.RULES)
    return None


def compare_words(statement: str, quote: str, context: str = "", window: str = "") -> Finding | None:
    """What speaks against a statement in the words of its quote alone; None for nothing.

    A sentence of the quote that cannot be true beside the statement contradicts it. A number or date that stands neither
    in the quote nor in its context or the window around it leaves it partly supported.
    """
    statement_sentences, quote_sentences = comparable_sentences(statement), comparable_sentences(quote)
    if statement_sentences and quote_sentences:
        # What the quote shows need not be looked for in its context.
        figures = missing_figures(statement, quote) and missing_figures(statement, f"{context} {quote}")
        for reason in _contradictions(statement_sentences, quote_sentences, has_other_figures=bool(figures)):
            return Finding(Verdict.CONTRADICTED, f"The quote says otherwise: {reason}.", Decider.RULES)
        # A figure of the window may be that of another thing: above, it takes no contradiction away.
        if figures and window:
            figures = missing_in_window(statement, quote, f"{window} {context}")
        if figures:
            return Finding(Verdict.PARTLY, f"The quote does not say {', '.join(figures)}.", Decider.RULES)
    return None


def repeats(statement: str, quote: str) -> bool:
    """Whether each sentence of a statement is one of the quote, in other notation and without a list's mark at most.

    It is no verdict: the source may report the quote as wrong. Takes dozens of milliseconds for long texts.
    """
    statement_sentences, quote_sentences = comparable_sentences(statement), comparable_sentences(quote)
    return bool(statement_sentences) and all(
        any(_relate(ours, theirs).relation is Relation.SAME for theirs in quote_sentences)
        for ours in statement_sentences
    )


def _contradictions(
    statement_sentences: Sequence[str], quote_sentences: Sequence[str], *, has_other_figures: bool
) -> Iterator[str]:
    """For each sentence of the statement why one of the quote cannot be true beside it."""
    for ours in statement_sentences:
        verdicts = [(theirs, _relate(ours, theirs)) for theirs in quote_sentences]
        if any(verdict.relation is Relation.SAME for _, verdict in verdicts):
            continue
        for theirs, verdict in verdicts:
            # Another sentence of the quote may have the statement's figure.
            if verdict.relation is Relation.CONTRADICTS and (
                has_other_figures or not compare(parse(ours), parse(theirs)).different_slots
            ):
                yield verdict.reason.rstrip(".")


def _relate(statement: str, sentence: str) -> RelationVerdict:
    """How a sentence of the statement relates to one of the quote, which may begin with a bullet or a list's number."""
    words = without_leading_marks(sentence)
    verdict = relate(statement, sentence)
    return verdict if words == sentence or verdict.relation is Relation.SAME else relate(statement, words)
