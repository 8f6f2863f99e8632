"""Whether the quotes of a file stand in the texts that are kept here: a file's own word does not count."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from chiron_api.transfer.records import AssertionRecord
from chiron_workers.evidence.quotes.quotes import locate
from chiron_workers.knowledge.report_rows import address
from chiron_workers.knowledge.transfers import Transfers
from chiron_workers.states import QuoteState


async def rechecked(transfers: Transfers, assertions: Sequence[AssertionRecord]) -> list[AssertionRecord]:
    """The assertions, each verified only if the file says so and its quote stands in a text that its source gave.

    What names a text that is not kept here names none.
    """
    claimed = [
        one
        for one in assertions
        if one.quote_state is QuoteState.VERIFIED and one.quote and one.snapshot_hash
    ]
    places = {(address(one.source_url), one.snapshot_hash or "") for one in claimed}
    given = await transfers.fetched(sorted(places))
    by_text: dict[str, list[AssertionRecord]] = defaultdict(list)
    for one in claimed:
        if (address(one.source_url), one.snapshot_hash) in given:
            by_text[one.snapshot_hash or ""].append(one)
    proven = dict[int, AssertionRecord]()
    for found, ones in by_text.items():  # one text at a time, since each can be long
        text = await transfers.text(found)
        standing = await asyncio.to_thread(_standings, ones, text)
        proven |= {id(one): proof for one, proof in zip(ones, standing, strict=True) if proof}
    kept = await transfers.kept(sorted({one.snapshot_hash for one in assertions if one.snapshot_hash}))
    return [proven.get(id(one)) or _unproven(one, kept) for one in assertions]


def _standings(ones: Sequence[AssertionRecord], text: str) -> list[AssertionRecord | None]:
    return [_standing(one, text) for one in ones]


def _standing(one: AssertionRecord, text: str) -> AssertionRecord | None:
    quote = one.quote or ""
    found = locate(quote, text)
    if found is None:
        return None
    if found.quote == quote == text[one.quote_start or 0 : one.quote_end or 0]:
        return one  # the same words can stand in a text twice
    place = {"quote": found.quote, "quote_start": found.start, "quote_end": found.end}
    return one.model_copy(update=place)


def _unproven(one: AssertionRecord, kept: set[str]) -> AssertionRecord:
    return one.model_copy(
        update={
            "quote_state": QuoteState.UNVERIFIED,
            "quote_start": None,
            "quote_end": None,
            "snapshot_hash": one.snapshot_hash if one.snapshot_hash in kept else None,
        }
    )
