from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load

SQL = load(__file__)
PAGE_ENTRIES = 50


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """An entry of a journal as it is stored, with the results of its calls.

    `kind` is opening, question, folding (the request for a summary that ends an epoch) or reply. `results` are
    {call_id, name, is_error, body, at} in the order they were committed; calls that still run have none.
    """

    n: int
    kind: str
    epoch: int
    at: datetime
    body: dict[str, Any]
    cost_usd: Decimal | None
    results: list[dict[str, Any]]


async def read_transcript(pool: Pool, run_id: UUID) -> AsyncIterator[TranscriptEntry]:
    """The conversation of a run from its beginning, through all its epochs; nothing where it was pruned."""
    page_args = {"run_id": run_id, "after": 0, "limit": PAGE_ENTRIES}
    while rows := await fetch_all(pool, SQL["page"], page_args):
        for row in rows:
            yield TranscriptEntry(**row)
        page_args["after"] = rows[-1]["n"]
