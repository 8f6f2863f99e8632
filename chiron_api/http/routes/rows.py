import asyncio
import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from typing import Annotated, BinaryIO
from uuid import UUID

from fastapi import Query
from starlette.background import BackgroundTask
from starlette.responses import Response, StreamingResponse

from chiron_api.acts.inputs import Page
from chiron_api.answers.rows import RowList
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import Responses, answers
from chiron_api.http.problems import Problem
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.services import Services
from chiron_api.transfer.rows.csv_rows import csv_rows
from chiron_api.transfer.rows.row_format import RowFormat
from chiron_api.transfer.rows.xlsx_rows import MEDIA_TYPE as XLSX
from chiron_api.transfer.rows.xlsx_rows import write_xlsx
from chiron_api.views.rows import row_page
from chiron_workers.batches.answers import columns_asked_for
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.rows import reading

router = api_router("Batches")

CHUNK_BYTES = 65_536
CSV = "text/csv"
TABLES: Responses = answers(HTTPStatus.NOT_FOUND) | {
    200: {"description": "The rows in the format that was named.", "content": {CSV: {}, XLSX: {}}}
}
NO_ROWS = "It was submitted without columns, so it has no rows; its results are its answers."


class RowQuery(Page):
    """A page of rows as JSON, or all of them as a table."""

    format: RowFormat = RowFormat.JSON


RowOptions = Annotated[RowQuery, Query()]


@router.get(
    "/v1/batches/{id}/rows", summary="List the rows of a batch", response_model=RowList, responses=TABLES
)
async def list_batch_rows(id: UUID, options: RowOptions, services: ServicesOf) -> Response:
    """What the runs of a batch handed in, in the order of its topics: pages of JSON, or one table as CSV or XLSX."""
    await summary(services.pool, id)  # 404 for the id of a run
    return await _rows(services, id, options)


@router.get("/v1/runs/{id}/rows", summary="List the rows of a run", response_model=RowList, responses=TABLES)
async def list_run_rows(id: UUID, options: RowOptions, services: ServicesOf) -> Response:
    """What a run handed in: pages of JSON, or one table as CSV or XLSX."""
    await run_summary(services.pool, id)  # 404 for the id of a batch
    return await _rows(services, id, options)


async def _rows(services: Services, target: UUID, options: RowQuery) -> Response:
    pool = services.pool
    columns = await columns_asked_for(pool, target)
    if not columns:
        raise NotFound(NO_ROWS)
    if options.format is RowFormat.JSON:
        rows = await reading.row_page(pool, target, columns, after=options.after, limit=options.limit + 1)
        return json_response(row_page(columns, rows, options.limit))
    if options.after is not None:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "after: goes with format=json; a table has all rows.")
    headers = {
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'attachment; filename="rows.{options.format}"',
    }
    if options.format is RowFormat.CSV:
        return StreamingResponse(csv_rows(pool, target, columns), media_type=CSV, headers=headers)
    # It has no name, and is gone once it is closed, whatever becomes of the request.
    file = await asyncio.to_thread(tempfile.TemporaryFile)
    try:
        await write_xlsx(pool, target, columns, file)
    except BaseException:
        file.close()
        raise
    return StreamingResponse(
        _chunks(file), media_type=XLSX, headers=headers, background=BackgroundTask(file.close)
    )


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """A file from its beginning. Starlette draws the chunks in threads."""
    file.seek(0)
    while chunk := file.read(CHUNK_BYTES):
        yield chunk
