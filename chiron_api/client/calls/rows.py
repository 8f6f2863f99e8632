"""Rows: of a batch, or of a single run by `run=`."""

from typing import Literal

from chiron_api.answers.rows import Row, RowList
from chiron_api.client.call import Call, Listing, get, pages
from chiron_api.client.targets import BatchRef, RunRef, target_of

RowFormat = Literal["csv", "xlsx"]


def rows(batch: BatchRef | None = None, *, run: RunRef | None = None) -> Listing[Row]:
    """All rows in the order of the topics, each cell with its facts; pages are fetched as they are needed."""
    folder, target = target_of(batch, run)
    return pages(f"/v1/{folder}/{{id}}/rows", RowList, target=target, format="json")


def rows_document(
    batch: BatchRef | None = None, *, run: RunRef | None = None, format: RowFormat = "csv"
) -> Call[bytes]:
    """All rows as one table, as it would be saved in a file."""
    folder, target = target_of(batch, run)
    return get(f"/v1/{folder}/{{id}}/rows", bytes, target=target, query={"format": format})
