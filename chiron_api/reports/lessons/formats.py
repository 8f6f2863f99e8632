"""The formats of lessons, by their names."""

from collections.abc import Iterator

from chiron_api.reports.lessons import html, markdown
from chiron_api.reports.lessons.document import LessonDocument, LessonFormat, document_of
from chiron_api.text import as_json
from chiron_workers.knowledge.lessons.reading import Lesson


def render(lesson: Lesson, format: LessonFormat) -> Iterator[str]:
    """A lesson as a document of a format, piece by piece."""
    document = LessonDocument(lesson)
    match format:
        case LessonFormat.MD:
            return markdown.render(document)
        case LessonFormat.HTML:
            return html.render(document)
        case LessonFormat.JSON:
            return iter([as_json(document_of(document)), "\n"])
