"""Rows as one JSON document: the columns, and each row with its cells, their facts and reasons."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from chiron_api.text import as_json
from chiron_api.views.rows import row_item
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.rows.reading import all_rows
from chiron_workers.runs.columns import Column


async def json_rows(pool: Pool, target: UUID, columns: Sequence[Column]) -> AsyncIterator[str]:
    """The text of the document, a page of rows at a time."""
    yield f'{{"columns": {as_json(columns)}, "rows": ['
    lead = "\n"
    async for page in all_rows(pool, target, columns):
        for row in page:
            yield f"{lead}{as_json(row_item(row, columns))}"
            lead = ",\n"
    yield "\n]}\n"
