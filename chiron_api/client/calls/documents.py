"""Documents: reports, lessons and rows as they would be saved in a file, and files that are added to subjects."""

from typing import Literal

from chiron_api.answers.lessons import LessonLine
from chiron_api.answers.subjects import DocumentReceipt
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


def add_document(subject: str, path: str, content: bytes) -> Call[DocumentReceipt]:
    """Add a document to a subject, so that its agents find it, in place of one of the same path.

    Args:
        path: What it is called there; its ending says how it is read: `papers/ice.pdf`.
        content: The file as it is.
    """
    location = "/v1/subjects/{id}/documents"
    headers = {"Content-Type": "application/octet-stream"}
    return Call(
        "POST",
        location,
        DocumentReceipt,
        target=subject,
        query={"path": path},
        content=content,
        headers=headers,
        is_repeatable=True,
    )
