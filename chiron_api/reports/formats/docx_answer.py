"""The written answer and the answers of the runs in a Word document."""

from collections.abc import Mapping

from chiron_api.reports import answer_phrasing, phrasing, question_phrasing
from chiron_api.reports.answer import RunAnswer, WrittenSentence
from chiron_api.reports.formats.docx_writer import GREY, Paper
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Report, Section
from chiron_api.reports.summary import plain_words


def written(paper: Paper, report: Report) -> None:
    """The written answer with links to findings and sources, then what is not known; nothing where there is none."""
    answer = report.answer
    if answer is None:
        return
    paper.paragraph(answer_phrasing.HEADING, 1)
    for section in answer.sections:
        mark = f" ({section.title_mark})" if section.title_mark else ""
        paper.paragraph(one_line(section.title) + mark, 2)
        paper.begin()
        for n, sentence in enumerate(section.sentences):
            paper.say(" " * bool(n))
            _sentence(paper, sentence)
    if answer.not_known:
        paper.paragraph(answer_phrasing.NOT_KNOWN_HEADING, 2)
        for line in answer.not_known:
            paper.paragraph(one_line(line), "bullet")


def _sentence(paper: Paper, sentence: WrittenSentence) -> None:
    paper.say(answer_phrasing.text_of(sentence))
    numbers = answer_phrasing.numbers(sentence)
    for n, number in enumerate(numbers):
        paper.say(", " if n else " (finding ", colour=GREY)
        paper.inward(str(number), f"f{number}")
    if numbers:
        paper.say(")", colour=GREY)
    for source in sentence.sources:
        cite(paper, source)
    for mark in answer_phrasing.marks(sentence):
        paper.say(f" ({mark})", bold=True)


def question(
    paper: Paper, section: Section, answers: Mapping[str, RunAnswer], contexts: Mapping[str, str]
) -> None:
    """The context of a section's question, its answer, what came of it, and its findings that stand elsewhere."""
    if section.question is None:
        return
    if context := contexts.get(section.question.run_id):
        paper.paragraph(context, colour=GREY)
    if answer := answers.get(section.question.run_id):
        _said(paper, answer)
    for note in question_phrasing.question_notes(section):
        paper.paragraph(note, colour=GREY)
    for n, number in enumerate(section.question.repeats):
        if n:
            paper.say(", ")
        else:
            paper.paragraph(phrasing.REPEATS_WORDS)
        paper.inward(f"finding {number}", f"f{number}")


def said(paper: Paper, report: Report) -> None:
    """What the runs of a subject answered, sentence by sentence."""
    if not report.run_answers:
        return
    paper.paragraph(answer_phrasing.RUNS_HEADING, 1)
    paper.paragraph(answer_phrasing.RUNS_NOTE, colour=GREY)
    for answer in report.run_answers:
        paper.paragraph(one_line(answer.topic), 2)
        _said(paper, answer)


def _said(paper: Paper, answer: RunAnswer) -> None:
    paper.begin()
    for n, sentence in enumerate(answer.sentences):
        paper.say(f"{' ' * bool(n)}{plain_words(sentence)}")
        for source in sentence.sources:
            cite(paper, source)
        if note := answer_phrasing.citation_note(sentence):
            paper.say(f" {note}", colour=GREY)
    if note := answer_phrasing.cut_note(answer):
        paper.paragraph(note)


def cite(paper: Paper, source: int) -> None:
    """A link to a source in the list at the end."""
    paper.say(" ")
    paper.inward(f"[{source}]", f"s{source}")
