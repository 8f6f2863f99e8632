"""Reports, lessons and rows as documents: what their methods have as models, as it would be saved in a file."""

from typing import Literal

from chiron_api.answers.lessons import LessonLine
from chiron_api.client.call import Call, get
from chiron_api.client.targets import BatchRef, Id, RunRef, id_of, target_of

ReportFormat = Literal["md", "html", "docx", "json", "csl-json", "bibtex", "ris"]
LessonFormat = Literal["md", "html", "json"]
RowFormat = Literal["csv", "xlsx"]


def report_document(
    batch: BatchRef | None = None,
    *,
    run: RunRef | None = None,
    subject: str | None = None,
    format: ReportFormat = "md",
    candidates: bool = False,
) -> Call[bytes]:
    """A report as a document of a format; with `candidates` also facts that are not sure enough, marked."""
    folder, target = target_of(batch, run, subject)
    query = {"format": format, "candidates": candidates}
    return get(f"/v1/{folder}/{{id}}/report", bytes, target=target, query=query)


def lesson_document(lesson: Id | LessonLine, *, format: LessonFormat = "md") -> Call[bytes]:
    """A lesson as a document of a format."""
    return get("/v1/lessons/{id}", bytes, target=id_of("lesson", lesson), query={"format": format})


def rows_document(
    batch: BatchRef | None = None, *, run: RunRef | None = None, format: RowFormat = "csv"
) -> Call[bytes]:
    """All rows as one table."""
    folder, target = target_of(batch, run)
    return get(f"/v1/{folder}/{{id}}/rows", bytes, target=target, query={"format": format})
