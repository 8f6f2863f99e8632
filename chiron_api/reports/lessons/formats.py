"""The formats of lessons, by their names."""

from collections.abc import Iterator
from enum import StrEnum

from chiron_workers.knowledge.lessons.reading import Lesson


class LessonFormat(StrEnum):
    """How a lesson is written out."""

    JSON = "json"
    MD = "md"
    HTML = "html"


MEDIA_TYPES = {
    LessonFormat.JSON: "application/json",
    LessonFormat.MD: "text/markdown; charset=utf-8",
    LessonFormat.HTML: "text/html; charset=utf-8",
}


def render(lesson: Lesson, format: LessonFormat) -> Iterator[str]:
    """A lesson as a document of a format, piece by piece."""
    # Commands and routes name the formats without what writes them.
    from chiron_api.reports.lessons import html, markdown
    from chiron_api.reports.lessons.document import LessonDocument, document_of
    from chiron_api.text import as_json

    document = LessonDocument(lesson)
    match format:
        case LessonFormat.MD:
            return markdown.render(document)
        case LessonFormat.HTML:
            return html.render(document)
        case LessonFormat.JSON:
            return iter([as_json(document_of(document)), "\n"])
