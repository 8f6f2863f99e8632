"""The formats of rows, and how each is written to a file."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from uuid import UUID

from chiron_api.atomic_file import atomic_write
from chiron_api.transfer.rows.csv_rows import csv_rows
from chiron_api.transfer.rows.json_rows import json_rows
from chiron_api.transfer.rows.row_format import RowFormat
from chiron_workers.db.connect import Pool
from chiron_workers.runs.columns import Column

# Those that are text, piece by piece.
TEXTS: dict[RowFormat, Callable[[Pool, UUID, Sequence[Column]], AsyncIterator[str]]] = {
    RowFormat.CSV: csv_rows,
    RowFormat.JSON: json_rows,
}


async def write_rows(
    pool: Pool, target: UUID, columns: Sequence[Column], format: RowFormat, file: Path
) -> None:
    """Write all rows of a batch or a run to a file, which gets its name when it is complete.

    Raises:
        UsageError: There are more rows than the format has room for.
        OSError: It cannot be written.
    """
    with atomic_write(file) as place:
        if format is RowFormat.XLSX:
            from chiron_api.transfer.rows.xlsx_rows import write_xlsx

            with place.open("wb") as book:
                await write_xlsx(pool, target, columns, book)
            return
        with place.open("w", encoding="utf-8", newline="") as stream:
            async for piece in TEXTS[format](pool, target, columns):
                stream.write(piece)
