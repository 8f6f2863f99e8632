"""The beginning of a report: one line with its subject and date, then each question with the first sentence of its answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chiron_api.reports import phrasing, question_phrasing
from chiron_api.reports.answer import RunAnswer, SaidSentence
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Report, Section
from chiron_api.text import count, cut
from chiron_workers.states import ReportKind

HEADING = "Summary"
QUESTION_COLUMNS, TOPIC_COLUMNS = ("Question", "Answer", "Facts"), ("Topic", "Surest fact", "Facts")
LINES_MAX = 200
ANSWER_CHARS_MAX = 300
QUESTIONS_NAMED_MAX = 20
ADDRESS_IN_BRACKETS = re.compile(r"\s*(?:\(<?https?://[^\s()<>]+>?\)|\[<?https?://[^\s\[\]<>]+>?\])")
EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A question or a topic, the first sentence of its answer and how many facts it has; `section` counts from 1."""

    title: str
    answer: str
    facts: int
    section: int


def lead(report: Report) -> str:
    """The line under the title: questions, dates, and numbers of facts and sources."""
    questions = sum(section.question is not None for section in report.sections)
    return lead_of(report, questions=questions, facts=len(list(report.findings)), sources=len(report.sources))


def lead_of(report: Report, *, questions: int, facts: int, sources: int | None) -> str:
    """The line under the title of a report that may be a part of the whole, with the numbers of the whole.

    Args:
        sources: None where it is not known.
    """
    titles = ", ".join(one_line(subject.title) for subject in report.subjects[:1])
    about = f"{count(questions, 'question')} on {titles}" if questions > 1 else titles
    origin = "" if sources is None else f" from {count(sources, 'source')}"
    return f"{about or one_line(report.title)}, {_when(report)}: {count(facts, 'fact')}{origin}."


def _when(report: Report) -> str:
    if report.kind is ReportKind.SUBJECT:
        return f"what is known on {long_day(report.made_at)}"
    start, end = report.work.started_at, report.work.finished_at
    if start is None:
        return "not researched yet"
    if end is None:
        return f"researched since {long_day(start)}"
    if start.date() == end.date():
        return f"researched on {long_day(start)}"
    return f"researched from {long_day(start)} to {long_day(end)}"


def long_day(at: datetime) -> str:
    """A date as a letter has it: 1 March 2026."""
    return f"{at.day} {phrasing.MONTHS[at.month - 1]} {at.year}"


def columns(report: Report) -> tuple[str, ...]:
    """The names of the columns of the summary."""
    return TOPIC_COLUMNS if report.kind is ReportKind.SUBJECT else QUESTION_COLUMNS


def summary_lines(report: Report, sizes: Sequence[int] | None = None) -> list[SummaryLine]:
    """The summary, 200 lines at most; none where a single section says it all.

    Args:
        sizes: How many facts each section has, where the report holds only some of them.
    """
    if len(report.sections) < 2:
        return []
    answers = {answer.run_id: answer for answer in report.run_answers}
    return [
        SummaryLine(title, _answer(section, answers), sizes[place - 1] if sizes else _facts(section), place)
        for place, (title, section) in enumerate(phrasing.titled_sections(report), start=1)
        if place <= LINES_MAX
    ]


def lines_left_out(report: Report) -> str:
    """That the summary is cut, or nothing."""
    surplus = len(report.sections) - LINES_MAX
    return f"{surplus:,} more stand below." if surplus > 0 else ""


def table_notes(report: Report) -> list[str]:
    """Notes on gaps in the table: questions without a row, rows and columns that do not fit."""
    table, notes = report.table, list[str]()
    if table is None:
        return notes
    run_ids = {row.run_id for row in table.rows}
    questions = [section.question for section in report.sections if section.question]
    rowless_questions = [question for question in questions if question.run_id not in run_ids]
    if rowless_questions and not table.has_more_rows and len(questions) > 1:
        names = ", ".join(f"#{question.number}" for question in rowless_questions[:QUESTIONS_NAMED_MAX])
        surplus = len(rowless_questions) - QUESTIONS_NAMED_MAX
        ending = f" and {surplus:,} more" if surplus > 0 else ""
        notes.append(f"No row came of {count(len(rowless_questions), 'question')}: {names}{ending}.")
    if table.has_more_rows:
        notes.append("Further rows are not shown here.")
    if table.columns_left_out:
        notes.append(f"{count(table.columns_left_out, 'more column is', 'more columns are')} not shown here.")
    return notes


def plain_words(sentence: SaidSentence) -> str:
    """A sentence of an agent on one line, without Markdown's asterisks and addresses in brackets that its sources name."""
    line = one_line(sentence.text)
    if sentence.sources:
        line = ADDRESS_IN_BRACKETS.sub("", line)
    return EMPHASIS.sub(r"\2", line) if "**" in line or "__" in line else line


def _facts(section: Section) -> int:
    return len(section.findings) + (len(section.question.repeats) if section.question else 0)


def _answer(section: Section, answers: dict[str, RunAnswer]) -> str:
    """The main sentence of an answer, after the outcome of a question without facts; for a topic its surest fact."""
    question = section.question
    if question is None:
        return cut(one_line(section.findings[0].content), ANSWER_CHARS_MAX) if section.findings else ""
    answer = answers.get(question.run_id)
    sentence = plain_words(_main_sentence(answer.sentences)) if answer and answer.sentences else ""
    outcome = question_phrasing.outcome(section)
    if not (sentence or outcome) and section.findings:
        sentence = one_line(section.findings[0].content)
    return cut(" ".join(part for part in (outcome, sentence) if part), ANSWER_CHARS_MAX)


def _main_sentence(sentences: Sequence[SaidSentence]) -> SaidSentence:
    """The first sentence that names a source, since what precedes it is often an introduction; else the first."""
    return next((sentence for sentence in sentences if sentence.sources), sentences[0])
