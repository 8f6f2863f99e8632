from collections.abc import Iterator
from functools import partial
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from chiron_api.http.requests import (
    Name,
    RequestModel,
    Tokens,
    Usd,
    path_id,
    read_optional_body,
    read_query,
    services_of,
)
from chiron_api.http.responses import json_response
from chiron_api.reports.formats import FORMATS, DocumentName
from chiron_api.reports.gathering import gather
from chiron_api.reports.write import encoded
from chiron_api.reports.writing import WritingOptions, submit_report
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.report_rows import Kind, find_target
from chiron_workers.pubsub.signals import notify

CHUNK_BYTES = 65_536


class ReportOptions(RequestModel):
    """The format of a report; `candidates` adds facts that are not sure enough, marked."""

    format: DocumentName = DocumentName("json")
    candidates: bool = False


class Writing(RequestModel):
    """Who writes a report and for how much; `again` where the facts are the same as the last time."""

    model: Name | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    again: bool = False


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


async def write_report(request: Request, kind: Kind) -> Response:
    """Have an answer written from the facts of a batch, a run or a subject; 202, also where that was done."""
    services = services_of(request)
    target = request.path_params["id"] if kind is Kind.SUBJECT else path_id(request)
    body = await read_optional_body(request, Writing)
    options = WritingOptions(body.model, Budget(body.budget_usd, body.budget_tokens), is_fresh=body.again)
    if (await find_target(services.pool, target)).kind is not kind:
        raise NotFound(f"There is no {kind} {target}.")
    receipt = await submit_report(services.pool, target, options)
    await notify(services.settings.redis_url, receipt.batch_id)
    document = {"batch_id": receipt.batch_id, "run_ids": receipt.run_ids, "is_new": receipt.is_new}
    headers = {"Location": f"/v1/batches/{receipt.batch_id}"}
    return json_response(document, HTTPStatus.ACCEPTED, headers=headers)


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
    Route("/v1/batches/{id}/report", partial(write_report, kind=Kind.BATCH), methods=["POST"]),
    Route("/v1/runs/{id}/report", partial(write_report, kind=Kind.RUN), methods=["POST"]),
    Route("/v1/subjects/{id}/report", partial(write_report, kind=Kind.SUBJECT), methods=["POST"]),
]
