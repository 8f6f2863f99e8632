"""Rows as HTTP, the client and JSON files show them."""

from collections.abc import Sequence
from typing import Any

from chiron_workers.knowledge.rows.reading import AnswerRow
from chiron_workers.runs.columns import Column


def row_item(row: AnswerRow, columns: Sequence[Column]) -> dict[str, Any]:
    """A row with its cells by the names of their columns."""
    return {
        "id": row.id,
        "run_id": row.run_id,
        "topic": row.topic,
        "subject_id": row.subject_id,
        "n": row.n,
        "cells": {column.name: cell for column, cell in zip(columns, row.cells, strict=True)},
    }


def row_page(columns: Sequence[Column], rows: Sequence[AnswerRow], limit: int) -> dict[str, Any]:
    """The first `limit` rows with their columns; `next` is the id of the last of them if there are more, else None."""
    page = rows[:limit]
    return {
        "columns": columns,
        "items": [row_item(row, columns) for row in page],
        "next": page[-1].id if len(rows) > limit else None,
    }
