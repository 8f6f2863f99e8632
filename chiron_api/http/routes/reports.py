import asyncio
from collections.abc import Iterator
from io import BytesIO
from typing import Literal
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from chiron_api.http.requests import Wire, path_id, query, services
from chiron_api.reports.formats import docx, html
from chiron_api.reports.gathering import gather
from chiron_api.reports.report import Report
from chiron_api.reports.write import MEDIA_TYPES, TEXTS, Format
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.report_rows import Kind

PIECE_CHARS = 65_536


class Wanted(Wire):
    """In what form a report is wanted; `candidates` adds what is not sure enough, marked."""

    format: Literal["md", "html", "json", "docx"] = "json"
    candidates: bool = False


async def batch_report(request: Request) -> Response:
    """What the runs of a batch found, with sources, contradictions, coverage and cost."""
    return await _answer(request, path_id(request), Kind.BATCH)


async def run_report(request: Request) -> Response:
    """What a run found, as the report of a batch; at its end what the agent said itself, marked as unchecked."""
    return await _answer(request, path_id(request), Kind.RUN)


async def subject_report(request: Request) -> Response:
    """All that is known of a subject."""
    return await _answer(request, request.path_params["id"], Kind.SUBJECT)


async def _answer(request: Request, wanted: UUID | str, kind: Kind) -> Response:
    asked = query(request, Wanted)
    report = await gather(services(request).pool, wanted, with_candidates=asked.candidates)
    if report.kind is not kind:
        raise NotFound(f"There is no {kind} {wanted}.")
    wanted_format = Format(asked.format)
    headers = {"X-Content-Type-Options": "nosniff"}
    if wanted_format is Format.DOCX:
        headers["Content-Disposition"] = f'attachment; filename="{report.kind}-report.docx"'
        return Response(
            await asyncio.to_thread(_document, report), media_type=MEDIA_TYPES[wanted_format], headers=headers
        )
    if wanted_format is Format.HTML:
        headers["Content-Security-Policy"] = html.policy()
    # Starlette draws the pieces in threads, so that a long report holds up nobody.
    return StreamingResponse(
        _gathered(TEXTS[wanted_format](report)), media_type=MEDIA_TYPES[wanted_format], headers=headers
    )


def _document(report: Report) -> bytes:
    file = BytesIO()
    docx.write(report, file)
    return file.getvalue()


def _gathered(pieces: Iterator[str]) -> Iterator[str]:
    """The same text in pieces of some size, since each costs a turn of a thread."""
    kept, chars = list[str](), 0
    for piece in pieces:
        kept.append(piece)
        chars += len(piece)
        if chars >= PIECE_CHARS:
            yield "".join(kept)
            kept, chars = [], 0
    yield "".join(kept)


routes = [
    Route("/v1/batches/{id}/report", batch_report),
    Route("/v1/runs/{id}/report", run_report),
    Route("/v1/subjects/{id}/report", subject_report),
]
