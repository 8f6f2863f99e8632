import asyncio
from collections.abc import Iterator
from io import BytesIO
from typing import Literal
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from chiron_api.http.requests import RequestModel, path_id, read_query, services_of
from chiron_api.reports.formats import docx, html
from chiron_api.reports.gathering import gather
from chiron_api.reports.report import Report
from chiron_api.reports.write import MEDIA_TYPES, TEXTS, Format
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.report_rows import Kind

PIECE_CHARS = 65_536


class ReportOptions(RequestModel):
    """The format of a report; `candidates` adds facts that are not sure enough, marked."""

    format: Literal["md", "html", "json", "docx"] = "json"
    candidates: bool = False


async def batch_report(request: Request) -> Response:
    """What the runs of a batch found, with sources, contradictions, coverage and cost."""
    return await _report(request, path_id(request), Kind.BATCH)


async def run_report(request: Request) -> Response:
    """What a run found, as the report of a batch; at its end what the agent said itself, marked as unchecked."""
    return await _report(request, path_id(request), Kind.RUN)


async def subject_report(request: Request) -> Response:
    """All that is known of a subject."""
    return await _report(request, request.path_params["id"], Kind.SUBJECT)


async def _report(request: Request, target: UUID | str, kind: Kind) -> Response:
    options = read_query(request, ReportOptions)
    report = await gather(services_of(request).pool, target, with_candidates=options.candidates)
    if report.kind is not kind:
        raise NotFound(f"There is no {kind} {target}.")
    report_format = Format(options.format)
    headers = {"X-Content-Type-Options": "nosniff"}
    if report_format is Format.DOCX:
        headers["Content-Disposition"] = f'attachment; filename="{report.kind}-report.docx"'
        return Response(
            await asyncio.to_thread(_document, report), media_type=MEDIA_TYPES[report_format], headers=headers
        )
    if report_format is Format.HTML:
        headers["Content-Security-Policy"] = html.policy()
    # Starlette draws the pieces in threads, so that a long report holds up nobody.
    return StreamingResponse(
        _in_chunks(TEXTS[report_format](report)), media_type=MEDIA_TYPES[report_format], headers=headers
    )


def _document(report: Report) -> bytes:
    file = BytesIO()
    docx.write(report, file)
    return file.getvalue()


def _in_chunks(pieces: Iterator[str]) -> Iterator[str]:
    """The same text in larger chunks, since Starlette hands each to a thread."""
    chunk, chars = list[str](), 0
    for piece in pieces:
        chunk.append(piece)
        chars += len(piece)
        if chars >= PIECE_CHARS:
            yield "".join(chunk)
            chunk, chars = [], 0
    yield "".join(chunk)


routes = [
    Route("/v1/batches/{id}/report", batch_report),
    Route("/v1/runs/{id}/report", run_report),
    Route("/v1/subjects/{id}/report", subject_report),
]
