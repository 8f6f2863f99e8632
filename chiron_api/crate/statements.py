"""Whether the statements of a crate's report can rest on their quotes, by the rules that decide when a fact is stored."""

from collections import Counter
from collections.abc import Iterable, Iterator
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
from chiron_workers.evidence.statements.support import judge_by_rules
from chiron_workers.states import Decider, Verdict

STATEMENT_CHARS_MAX = 4_000  # as many as a fact has when it is stored


@dataclass(frozen=True, slots=True)
class Evidence:
    """A statement with its quote, what is said to stand around that, and the verdict that the report names."""

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


def check_statements(report: Report, counts: Counter[Verdict]) -> Iterator[str]:
    """Statements that their quotes cannot bear out, and those that the report calls better than the rules do.

    Args:
        counts: Is told how many statements are supported by the rules, and how many they leave open (unchecked).
    """
    for finding in report.findings:
        evidence = [evidence_of(finding, citation) for citation in finding.citations if citation.is_verified]
        for item in evidence:
            yield from _check(finding.number, item, counts)
        if evidence and all(item.statement != finding.content for item in evidence):
            # Its own words rest on an unverified quote, so they are held to what others quote for it.
            yield from _check_own_words(finding, evidence)


def _check(number: int, item: Evidence, counts: Counter[Verdict]) -> Iterator[str]:
    ruling = _rule(item.statement, item)
    if ruling is None:
        yield f"Finding {number}: its statement is longer than one can be."
        return
    if ruling.verdict.is_doubt and not item.verdict.is_doubt:
        yield f"Finding {number}: its quote does not bear out its statement “{one_line(item.statement)}”. {ruling.reason}"
    elif _is_called_supported_by_rules(item) and ruling.verdict is not Verdict.SUPPORTED:
        yield (
            f"Finding {number}: the rules are said to have found its statement in its quote, and do not: "
            f"“{one_line(item.statement)}”."
        )
    counts[Verdict.SUPPORTED if ruling.verdict is Verdict.SUPPORTED else Verdict.UNCHECKED] += 1


def _is_called_supported_by_rules(item: Evidence) -> bool:
    return item.verdict is Verdict.SUPPORTED and item.verdict_by == Decider.RULES


def _check_own_words(finding: Finding, evidence: Iterable[Evidence]) -> Iterator[str]:
    rulings = [_rule(finding.content, item) for item in evidence]
    if all(ruling is None or ruling.verdict.is_doubt for ruling in rulings):
        yield (
            f"Finding {finding.number}: none of its quotes bears out its statement “{one_line(finding.content)}”."
        )


def _rule(statement: str, item: Evidence) -> Ruling | None:
    """The verdict of the rules, unchecked where they reach none; None for what is too long to be a fact."""
    if len(statement) > STATEMENT_CHARS_MAX or len(item.quote) > QUOTE_CHARS_MAX:
        return None
    return judge_by_rules(statement, item.quote, item.context) or Ruling()


def context_fault(item: Evidence, text: str, target: Target) -> str:
    """That what is said to stand around a quote does not, or that what takes it back there is left out; else empty."""
    position = target.selector[1]
    context = context_of(text, position.start, position.end)
    if item.context == context:
        return ""
    if may_turn(context) and not may_turn(item.context):
        return f"what stands around its quote is left out: “{one_line(context)}”."
    # Another version may have chosen other lines, but they are lines of the text.
    line_start = text.rfind("\n", 0, position.start) + 1
    surroundings = _words(text[max(0, line_start - TABLE_CHARS) : position.end + AFTER_CHARS])
    if all(_words(piece) in surroundings for piece in item.context.split(SEPARATOR)):
        return ""
    return f"what is said to be its context does not stand around its quote: “{one_line(item.context)}”."


def _words(text: str) -> str:
    return " ".join(text.replace(CELL_BAR, " ").split())
