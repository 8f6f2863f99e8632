from collections.abc import Iterator
from functools import partial

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


async def show_report(request: Request, kind: Kind) -> Response:
    """What a run or the runs of a batch found, or all that is known of a subject."""
    target = request.path_params["id"] if kind is Kind.SUBJECT else path_id(request)
    options = read_query(request, ReportOptions)
    report_format = FORMATS[options.format]
    report = await gather(
        services_of(request).pool,
        target,
        with_candidates=options.candidates,
        with_selections=report_format.has_selections,
    )
    if report.kind is not kind:
        raise NotFound(f"There is no {kind} {target}.")
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
    Route("/v1/batches/{id}/report", partial(show_report, kind=Kind.BATCH)),
    Route("/v1/runs/{id}/report", partial(show_report, kind=Kind.RUN)),
    Route("/v1/subjects/{id}/report", partial(show_report, kind=Kind.SUBJECT)),
]
