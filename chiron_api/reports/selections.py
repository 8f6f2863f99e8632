"""Where quotes stand in the kept texts, as the selectors of the W3C's Web Annotation Data Model."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chiron_api.reports.report import Citation, Selection, Source
from chiron_workers.states import QuoteState

if TYPE_CHECKING:  # `chiron verify` renders pages, and needs no database
    from chiron_workers.knowledge.finding_rows import AssertionRow
    from chiron_workers.runs.session import Session

SURROUNDING_CHARS = 64  # before and behind a quote, to find it again in a text that was laid out anew


async def select(session: "Session", assertions: "Sequence[AssertionRow]") -> dict[str, Selection]:
    """Where the verified quotes of assertions stand, by the ids of the assertions."""
    from chiron_workers.knowledge import transfers  # with the terms of all languages; most formats need none

    rows_by_text: dict[str, list[AssertionRow]] = defaultdict(list)
    for row in assertions:
        if row.quote_state == QuoteState.VERIFIED and row.snapshot_hash and row.quote_start is not None:
            rows_by_text[row.snapshot_hash].append(row)
    selections: dict[str, Selection] = {}
    for text_hash, rows in rows_by_text.items():  # one text at a time, since each can be long
        text = await transfers.text(session, text_hash)
        selections |= await asyncio.to_thread(_select_all, text, rows)
    return selections


def _select_all(text: str, rows: "Sequence[AssertionRow]") -> dict[str, Selection]:
    return {
        row.id: _selection(text, row.quote_start, row.quote_end)
        for row in rows
        if row.quote_start is not None
        and row.quote_end is not None
        and text[row.quote_start : row.quote_end] == row.quote
    }


def _selection(text: str, start: int, end: int) -> Selection:
    before, behind = text[max(0, start - SURROUNDING_CHARS) : start], text[end : end + SURROUNDING_CHARS]
    return Selection(start, end, before, behind)


def target(citation: Citation, source: Source, *, cached: str) -> dict[str, object] | None:
    """The passage of a citation as the target of a Web Annotation; None where no passage is known.

    `start` and `end` count Unicode code points of the kept text. `cached` is where that text is.
    """
    selection = citation.selection
    if selection is None:
        return None
    state = {"type": "TimeState", "cached": cached}
    return {
        "type": "SpecificResource",
        "source": source.url,
        "state": state | ({"sourceDate": source.fetched_at} if source.fetched_at else {}),
        "selector": [
            {
                "type": "TextQuoteSelector",
                "exact": citation.quote,
                "prefix": selection.prefix,
                "suffix": selection.suffix,
            },
            {"type": "TextPositionSelector", "start": selection.start, "end": selection.end},
        ],
    }
