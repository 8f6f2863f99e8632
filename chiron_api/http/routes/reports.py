from collections.abc import Iterator
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from chiron_api.http.requests import RequestModel, path_id, read_query, services_of
from chiron_api.reports.formats import FORMATS, DocumentName
from chiron_api.reports.gathering import gather
from chiron_api.reports.write import encoded
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.report_rows import Kind

CHUNK_BYTES = 65_536


class ReportOptions(RequestModel):
    """The format of a report; `candidates` adds facts that are not sure enough, marked."""

    format: DocumentName = DocumentName("json")
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
    report_format = FORMATS[options.format]
    assert report_format.render
    headers = {"X-Content-Type-Options": "nosniff", **report_format.headers}
    if not report_format.is_text:
        headers["Content-Disposition"] = f'attachment; filename="{report.kind}-report.{report_format.name}"'
    # Starlette draws the chunks in threads, so that a long report holds up nobody.
    return StreamingResponse(
        _in_chunks(report_format.render(report)), media_type=report_format.media_type, headers=headers
    )


def _in_chunks(pieces: Iterator[str | bytes]) -> Iterator[bytes]:
    """The same document in larger chunks, since Starlette hands each to a thread."""
    chunk = bytearray()
    for piece in pieces:
        chunk += encoded(piece)
        if len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)


routes = [
    Route("/v1/batches/{id}/report", batch_report),
    Route("/v1/runs/{id}/report", run_report),
    Route("/v1/subjects/{id}/report", subject_report),
]
