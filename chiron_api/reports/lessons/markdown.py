"""A lesson as CommonMark."""

from collections.abc import Iterator

from chiron_api.reports.formats.markdown_text import escape
from chiron_api.reports.lessons.document import (
    DELETED,
    FACTS_HEADING,
    NOT_KNOWN_HEADING,
    LessonDocument,
    sources_of,
)
from chiron_api.reports.links import link
from chiron_workers.knowledge.lessons.reading import LessonSentence


def render(document: LessonDocument) -> Iterator[str]:
    """The document, piece by piece."""
    yield f"# {escape(document.title)}\n\n{escape(document.origin)}\n\n"
    if notices := document.notices():
        yield "\n".join(f"> - {escape(notice)}" for notice in notices) + "\n\n"
    for section in document.lesson.sections:
        mark = f" *({escape(section.title_mark)})*" if section.title_mark else ""
        yield f"## {escape(section.title)}{mark}\n\n"
        yield " ".join(_sentence(sentence, document) for sentence in section.sentences) + "\n\n"
    if document.lesson.line.not_known:
        yield f"## {NOT_KNOWN_HEADING}\n\n"
        yield "".join(f"- {escape(line)}\n" for line in document.lesson.line.not_known) + "\n"
    if document.numbers:
        yield f"## {FACTS_HEADING}\n\n"
    for number, fact_id, fact in document.facts():
        statement = escape(fact.content) if fact else f"*{DELETED}*"
        sources = " · ".join(_source(url) for url in sources_of(fact)) if fact else ""
        yield f"**\\[{number}\\]** {' · '.join(filter(None, [statement, sources, f'fact {fact_id}']))}\n\n"


def _sentence(sentence: LessonSentence, document: LessonDocument) -> str:
    cites = " ".join(f"\\[{document.numbers[fact_id]}\\]" for fact_id in sentence.fact_ids)
    marks = "".join(f" *({escape(mark)})*" for mark in (sentence.mark, *sentence.changes) if mark)
    return f"{escape(sentence.text)} {cites}{marks}"


def _source(url: str) -> str:
    target = link(url)
    return f"[{escape(url)}](<{target}>)" if target else escape(url)
