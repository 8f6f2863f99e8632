"""Rows: what the runs of a batch, or a run, handed in, in the requested columns."""

import asyncio
import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from typing import BinaryIO
from uuid import UUID

from chiron_api.acts.act import Document, Noun
from chiron_api.acts.inputs import Page
from chiron_api.acts.research import BATCH, RUN
from chiron_api.answers.rows import RowList
from chiron_api.services import Services
from chiron_api.text import as_json
from chiron_api.transfer.rows.row_format import RowFormat
from chiron_api.views.rows import row_page
from chiron_workers.batches.answers import columns_asked_for
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.knowledge.rows import reading

ROWS = Noun("Batches")
CHUNK_BYTES = 65_536
CSV = "text/csv"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
NO_ROWS = "It was submitted without columns, so it has no rows; its results are its answers."


class RowQuery(Page):
    """A page of rows as JSON, or all of them as a table."""

    format: RowFormat = RowFormat.JSON


@ROWS.act(
    "batches.rows",
    "GET /v1/batches/{id}/rows",
    "List the rows of a batch",
    client="rows",
    faces=("GET /batches/{id}/rows",),
    problems=(HTTPStatus.NOT_FOUND,),
    media_types=(CSV, XLSX),
    is_owned=True,
    target=BATCH,
)
async def list_batch_rows(services: Services, id: UUID, options: RowQuery) -> Document[RowList]:
    """What the runs of a batch handed in, in the order of its topics: pages of JSON, or one table as CSV or XLSX.

    404 for a batch that was submitted without `columns`.
    """
    await summary(services.pool, id)  # 404 for the id of a run
    return await _rows(services, id, options)


@ROWS.act(
    "runs.rows",
    "GET /v1/runs/{id}/rows",
    "List the rows of a run",
    client="rows",
    faces=("GET /runs/{id}/rows",),
    problems=(HTTPStatus.NOT_FOUND,),
    media_types=(CSV, XLSX),
    is_owned=True,
    target=RUN,
)
async def list_run_rows(services: Services, id: UUID, options: RowQuery) -> Document[RowList]:
    """What a run handed in: pages of JSON, or one table as CSV or XLSX."""
    await run_summary(services.pool, id)  # 404 for the id of a batch
    return await _rows(services, id, options)


async def _rows(services: Services, target: UUID, options: RowQuery) -> Document[RowList]:
    pool = services.pool
    columns = await columns_asked_for(pool, target)
    if not columns:
        raise NotFound(NO_ROWS)
    if options.format is RowFormat.JSON:
        rows = await reading.row_page(pool, target, columns, after=options.after, limit=options.limit + 1)
        return Document([as_json(row_page(columns, rows, options.limit))])
    if names := sorted(options.model_fields_set - {"format"}):
        raise UsageError(f"{', '.join(names)}: goes with format=json; a table has all rows.")
    file_name = f"rows.{options.format}"
    if options.format is RowFormat.CSV:
        from chiron_api.transfer.rows.csv_rows import csv_rows

        return Document(csv_rows(pool, target, columns), CSV, file_name=file_name)
    from chiron_api.transfer.rows.xlsx_rows import write_xlsx  # xlsxwriter, which few programs need

    # It has no name, and is gone once it is closed, whatever becomes of the request.
    file = await asyncio.to_thread(tempfile.TemporaryFile)
    try:
        await write_xlsx(pool, target, columns, file)
    except BaseException:
        file.close()
        raise
    return Document(_chunks(file), XLSX, file_name=file_name)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    """A file from its beginning; it is closed at the end."""
    with file:
        file.seek(0)
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
