"""What a report says of the outcome of a question, the same in every format. Plain text, which each renderer escapes."""

from collections.abc import Iterator

from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Finding, Question, Section
from chiron_api.text import count
from chiron_workers.states import RunState

NOTHING_FOUND = "Nothing found."
KNOWN_MARK = "known before"


def question_notes(section: Section) -> list[str]:
    """Notes on the outcome of a question: its end, "nothing found", and the searches and pages that were tried."""
    question = section.question
    if question is None:
        return []
    notes = [sentence] if (sentence := _ending(question)) else []
    if section.findings or question.repeats:
        return notes
    if sentence := _missing(question):
        notes.append(sentence)
    return notes if question.hidden_facts else [*notes, *_attempts(question)]


def outcome(section: Section) -> str:
    """A sentence where the research on a question has not ended, failed or found nothing; else empty."""
    question = section.question
    if question is None:
        return ""
    is_empty = not (section.findings or question.repeats)
    return " ".join(part for part in (_ending(question), _missing(question) if is_empty else "") if part)


def _ending(question: Question) -> str:
    if not question.state.is_final:
        return "The research on this has not ended."
    if question.state is RunState.COMPLETED:
        return ""
    return (
        "The research on this was cancelled."
        if question.state is RunState.CANCELLED
        else "The research on this failed."
    )


def _missing(question: Question) -> str:
    if question.hidden_facts:
        facts = count(question.hidden_facts, "fact is", "facts are")
        return f"Nothing was found that is sure enough to be shown; {facts} left out."
    return NOTHING_FOUND if question.nothing_found else ""


def _attempts(question: Question) -> Iterator[str]:
    attempts = question.attempts
    if not question.nothing_found and (attempts is None or not question.state.is_final):
        return
    if attempts is None:
        yield "Searches and pages are unknown: the journal of this run was pruned."
        return
    if attempts.searches:
        yield f"Searched for: {'; '.join(f'“{one_line(words)}”' for words in attempts.searches)}."
    if attempts.pages:
        yield f"Pages read: {', '.join(map(one_line, attempts.pages))}."
    if attempts.left_out:
        yield f"And {count(attempts.left_out, 'more search or page', 'more searches and pages')}."
    if question.nothing_found and not (attempts.searches or attempts.pages):
        yield "Nothing was searched for, and no page was read."


def finding_mark(section: Section, finding: Finding) -> str:
    """The mark of a finding that was known before its question; else empty."""
    is_known = section.question is not None and finding.number in section.question.known_findings
    return KNOWN_MARK if is_known else ""
