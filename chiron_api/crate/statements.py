"""Check the statements of a crate's report against their quotes, by the rules that doubt facts when they are stored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chiron_api.crate.documents import Citation, Finding, Report, Target
from chiron_api.text import one_line
from chiron_workers.evidence.quotes.context import (
    AFTER_CHARS,
    CELL_BAR,
    SEPARATOR,
    TABLE_CHARS,
    context_of,
    may_turn,
)
from chiron_workers.evidence.quotes.quotes import QUOTE_CHARS_MAX
from chiron_workers.evidence.statements.support import Finding as Ruling
from chiron_workers.evidence.statements.support import compare_words, repeats
from chiron_workers.states import Decider, Verdict

STATEMENT_CHARS_MAX = 4_000  # as many as a fact has when it is stored


@dataclass(frozen=True, slots=True)
class Evidence:
    """A statement with its quote, the context that the report gives for the quote, and the report's verdict."""

    statement: str
    quote: str
    context: str
    verdict: Verdict
    verdict_by: str


def evidence_of(finding: Finding, citation: Citation) -> Evidence:
    """What a citation says in favour of its finding."""
    return Evidence(
        citation.wording or finding.content,
        citation.quote,
        citation.context,
        citation.verdict,
        citation.verdict_by,
    )


@dataclass(slots=True)
class StatementCounts:
    """How many statements have a verified quote, repeat it, or are doubted by the rules and called supported by a model."""

    all: int = 0
    repeated: int = 0
    overruled: int = 0


def check_statements(report: Report, counts: StatementCounts) -> Iterator[str]:
    """Faults: statements that the rules doubt and no model supports, and false claims that the rules support one.

    Args:
        counts: Is updated while the iterator runs.
    """
    for finding in report.findings:
        evidence = [evidence_of(finding, citation) for citation in finding.citations if citation.is_verified]
        for item in evidence:
            yield from _check(finding.number, item, counts)
        if evidence and all(item.statement != finding.content for item in evidence):
            # The quote for its own words is unverified, so they are checked against the quotes of the other wordings.
            yield from _check_own_words(finding, evidence)


def _check(number: int, item: Evidence, counts: StatementCounts) -> Iterator[str]:
    ruling = _rule(item.statement, item)
    if ruling is None:
        yield f"Finding {number}: its statement is longer than one can be."
        return
    is_repeated = repeats(item.statement, item.quote)
    counts.all += 1
    counts.repeated += is_repeated
    if ruling.verdict.is_doubt and not item.verdict.is_doubt:
        if _is_judged_by_a_model(item):  # It has read more than the rules compare.
            counts.overruled += 1
        else:
            yield f"Finding {number}: its quote does not support its statement “{one_line(item.statement)}”. {ruling.reason}"
    elif _is_called_supported_by_rules(item) and not is_repeated:
        # A report of an older version may call repeated words supported: the rules took them for a verdict.
        yield (
            f"Finding {number}: the report says that the rules support its statement, but they do not: "
            f"“{one_line(item.statement)}”."
        )


def _is_judged_by_a_model(item: Evidence) -> bool:
    return item.verdict_by not in ("", Decider.RULES)


def _is_called_supported_by_rules(item: Evidence) -> bool:
    return item.verdict is Verdict.SUPPORTED and item.verdict_by == Decider.RULES


def _check_own_words(finding: Finding, evidence: Sequence[Evidence]) -> Iterator[str]:
    rulings = [_rule(finding.content, item) for item in evidence]
    if all(ruling is None or ruling.verdict.is_doubt for ruling in rulings) and not any(
        map(_is_judged_by_a_model, evidence)
    ):
        yield (
            f"Finding {finding.number}: none of its quotes supports its statement “{one_line(finding.content)}”."
        )


def _rule(statement: str, item: Evidence) -> Ruling | None:
    """The verdict of the rules, unchecked if they have no doubt; None if statement or quote is too long to be stored."""
    if len(statement) > STATEMENT_CHARS_MAX or len(item.quote) > QUOTE_CHARS_MAX:
        return None
    return compare_words(statement, item.quote, item.context) or Ruling()


def context_fault(item: Evidence, text: str, target: Target) -> str:
    """A fault of the context that the report gives for a quote, else empty.

    Either it is not near the quote in the text, or it omits words there that turn the meaning of the quote.
    """
    position = target.selector[1]
    context = context_of(text, position.start, position.end)
    if item.context == context:
        return ""
    if may_turn(context) and not may_turn(item.context):
        return f"the report omits the context of its quote: “{one_line(context)}”."
    # Another version may have chosen other lines, but they are lines of the text.
    line_start = text.rfind("\n", 0, position.start) + 1
    surroundings = _words(text[max(0, line_start - TABLE_CHARS) : position.end + AFTER_CHARS])
    if all(_words(piece) in surroundings for piece in item.context.split(SEPARATOR)):
        return ""
    return f"the context that the report gives is not near its quote: “{one_line(item.context)}”."


def _words(text: str) -> str:
    return " ".join(text.replace(CELL_BAR, " ").split())
