"""The written answer and the answers of the runs in Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from chiron_api.reports import answer_phrasing, phrasing, question_phrasing
from chiron_api.reports.answer import RunAnswer, WrittenSentence
from chiron_api.reports.formats.markdown_text import escape
from chiron_api.reports.report import Report, Section
from chiron_api.reports.summary import plain_words

Cite = Callable[[Sequence[int]], str]  # references to sources, by their numbers
Place = Callable[[int], str]  # how a finding is named, by its number


def written(report: Report, cite: Cite, place: Place) -> Iterator[str]:
    """The written answer, a paragraph for each section, then what is not known; nothing where there is none."""
    answer = report.answer
    if answer is None:
        return
    yield f"## {answer_phrasing.HEADING}\n\n"
    for section in answer.sections:
        mark = f" *({escape(section.title_mark)})*" if section.title_mark else ""
        yield f"### {escape(section.title)}{mark}\n\n"
        yield " ".join(_sentence(sentence, cite, place) for sentence in section.sentences) + "\n\n"
    if answer.not_known:
        yield f"### {answer_phrasing.NOT_KNOWN_HEADING}\n\n"
        yield "".join(f"- {escape(line)}\n" for line in answer.not_known) + "\n"


def _sentence(sentence: WrittenSentence, cite: Cite, place: Place) -> str:
    findings = ", ".join(map(place, answer_phrasing.numbers(sentence)))
    marks = "".join(f" *({escape(mark)})*" for mark in answer_phrasing.marks(sentence))
    parts = [
        escape(answer_phrasing.text_of(sentence)),
        f"({findings})" if findings else "",
        cite(sentence.sources),
    ]
    return " ".join(part for part in parts if part) + marks


def question(
    section: Section, answers: Mapping[str, RunAnswer], contexts: Mapping[str, str], cite: Cite, place: Place
) -> Iterator[str]:
    """The context of a section's question, its answer, what came of it, and its findings that stand elsewhere."""
    if section.question is None:
        return
    if context := contexts.get(section.question.run_id):
        yield f"*{escape(context)}*\n\n"
    if answer := answers.get(section.question.run_id):
        yield from _said(answer, cite)
    yield from (f"*{escape(note)}*\n\n" for note in question_phrasing.question_notes(section))
    if numbers := section.question.repeats:
        yield f"{phrasing.REPEATS_WORDS}{', '.join(map(place, numbers))}.\n\n"


def said(report: Report, cite: Cite) -> Iterator[str]:
    """What the runs of a subject answered, sentence by sentence."""
    if not report.run_answers:
        return
    yield f"## {answer_phrasing.RUNS_HEADING}\n\n{escape(answer_phrasing.RUNS_NOTE)}\n\n"
    for answer in report.run_answers:
        yield f"### {escape(answer.topic)}\n\n"
        yield from _said(answer, cite)


def _said(answer: RunAnswer, cite: Cite) -> Iterator[str]:
    for sentence in answer.sentences:
        note = answer_phrasing.citation_note(sentence)
        mark = f"*{escape(note)}*" if note else cite(sentence.sources)
        yield f"- {escape(plain_words(sentence))} {mark}\n"
    note = answer_phrasing.cut_note(answer)
    yield f"\n{note}\n\n" if note else "\n"
