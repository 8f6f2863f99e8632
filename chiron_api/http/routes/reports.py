from collections.abc import Iterator
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from starlette.responses import Response, StreamingResponse

from chiron_api.acts.inputs import Flag, Input, Name, Tokens, Usd
from chiron_api.answers.reports import Report
from chiron_api.answers.runs import WritingReceipt
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import Responses, answers
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.reports.formats import FORMATS, DocumentName
from chiron_api.reports.gathering import gather
from chiron_api.reports.write import encoded
from chiron_api.reports.writing import WritingOptions, submit_report
from chiron_api.services import Services
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.report_rows import find_target
from chiron_workers.pubsub.signals import notify
from chiron_workers.states import ReportKind

router = api_router("Reports")

CHUNK_BYTES = 65_536
DOCUMENTS: Responses = answers(HTTPStatus.NOT_FOUND) | {
    200: {
        "description": "The report in the format that was named.",
        "content": {
            FORMATS[name].media_type.partition(";")[0]: {}
            for name in DocumentName
            if FORMATS[name].name != "json"
        },
    }
}


class ReportOptions(Input):
    """The format of a report; `candidates` adds facts that are not sure enough, marked."""

    format: DocumentName = DocumentName("json")
    candidates: bool = False


class Writing(Input):
    """Who writes a report and for how much; `again` where the facts are the same as the last time."""

    model: Name | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    again: Flag = False


DEFAULTS = Writing()
ReportQuery = Annotated[ReportOptions, Query()]


@router.get(
    "/v1/batches/{id}/report",
    summary="Report on a batch",
    response_model=Report,
    responses=DOCUMENTS,
)
async def show_batch_report(id: UUID, options: ReportQuery, services: ServicesOf) -> Response:
    """What the runs of a batch found, with sources."""
    return await stream_report(services, id, ReportKind.BATCH, options)


@router.post(
    "/v1/batches/{id}/report",
    status_code=HTTPStatus.ACCEPTED,
    summary="Have an answer written on a batch",
    response_model=WritingReceipt,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, located=HTTPStatus.ACCEPTED),
)
async def write_batch_report(id: UUID, services: ServicesOf, body: Writing = DEFAULTS) -> Response:
    """Have a run write an answer from the facts of a batch; 202, also where that was done."""
    return await _write(services, id, ReportKind.BATCH, body)


@router.get(
    "/v1/runs/{id}/report",
    summary="Report on a run",
    response_model=Report,
    responses=DOCUMENTS,
)
async def show_run_report(id: UUID, options: ReportQuery, services: ServicesOf) -> Response:
    """What a run found, with sources."""
    return await stream_report(services, id, ReportKind.RUN, options)


@router.post(
    "/v1/runs/{id}/report",
    status_code=HTTPStatus.ACCEPTED,
    summary="Have an answer written on a run",
    response_model=WritingReceipt,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, located=HTTPStatus.ACCEPTED),
)
async def write_run_report(id: UUID, services: ServicesOf, body: Writing = DEFAULTS) -> Response:
    """Have a run write an answer from the facts of a run; 202, also where that was done."""
    return await _write(services, id, ReportKind.RUN, body)


@router.get(
    "/v1/subjects/{id}/report",
    summary="Report on a subject",
    response_model=Report,
    responses=DOCUMENTS,
)
async def show_subject_report(id: str, options: ReportQuery, services: ServicesOf) -> Response:
    """All that is known of a subject, with sources."""
    return await stream_report(services, id, ReportKind.SUBJECT, options)


@router.post(
    "/v1/subjects/{id}/report",
    status_code=HTTPStatus.ACCEPTED,
    summary="Have an answer written on a subject",
    response_model=WritingReceipt,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, located=HTTPStatus.ACCEPTED),
)
async def write_subject_report(id: str, services: ServicesOf, body: Writing = DEFAULTS) -> Response:
    """Have a run write an answer from the facts of a subject; 202, also where that was done."""
    return await _write(services, id, ReportKind.SUBJECT, body)


async def stream_report(
    services: Services, target: UUID | str, kind: ReportKind, options: ReportOptions
) -> StreamingResponse:
    """The report as a document of its format. Raises NotFound."""
    report_format = FORMATS[options.format]
    report = await gather(
        services.pool,
        target,
        with_candidates=options.candidates,
        with_selections=report_format.has_selections,
        owner=services.principal.visible_owner,
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


async def _write(services: Services, target: UUID | str, kind: ReportKind, body: Writing) -> Response:
    options = WritingOptions(body.model, Budget(body.budget_usd, body.budget_tokens), is_fresh=body.again)
    if (await find_target(services.pool, target)).kind is not kind:
        raise NotFound(f"There is no {kind} {target}.")
    receipt = await submit_report(services.pool, target, options, principal=services.principal)
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
