"""Check the quotes of an imported file against the texts that are kept here; what the file says of them does not count."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from chiron_api.transfer.records import AssertionRecord
from chiron_workers.evidence.quotes.context import context_of
from chiron_workers.evidence.quotes.quotes import locate
from chiron_workers.evidence.statements.support import Finding, judge_by_rules
from chiron_workers.knowledge import transfers
from chiron_workers.knowledge.report_rows import address
from chiron_workers.runs.session import Session
from chiron_workers.states import Decider, QuoteState


async def recheck_quotes(session: Session, assertions: Sequence[AssertionRecord]) -> list[AssertionRecord]:
    """Check quotes again: each is verified only if the file says so and it stands in a text that its source gave.

    An assertion whose text is not stored here loses its snapshot hash.
    """
    claims = [
        assertion
        for assertion in assertions
        if assertion.quote_state is QuoteState.VERIFIED and assertion.quote and assertion.snapshot_hash
    ]
    places = {(address(assertion.source_url), assertion.snapshot_hash or "") for assertion in claims}
    fetches = await transfers.find_fetches(session, sorted(places))
    by_text: dict[str, list[AssertionRecord]] = defaultdict(list)
    for assertion in claims:
        if (address(assertion.source_url), assertion.snapshot_hash) in fetches:
            by_text[assertion.snapshot_hash or ""].append(assertion)
    proven = dict[int, AssertionRecord]()
    for text_hash, assertions_of_text in by_text.items():  # one text at a time, since each can be long
        text = await transfers.text(session, text_hash)
        matches = await asyncio.to_thread(_match_quotes, assertions_of_text, text)
        proven |= {
            id(assertion): proof
            for assertion, proof in zip(assertions_of_text, matches, strict=True)
            if proof
        }
    stored_hashes = await transfers.find_texts(
        session, sorted({assertion.snapshot_hash for assertion in assertions if assertion.snapshot_hash})
    )
    rechecks = [
        proven.get(id(assertion)) or _unverified(assertion, stored_hashes) for assertion in assertions
    ]
    return await asyncio.to_thread(lambda: [_judge(assertion) for assertion in rechecks])


def _judge(assertion: AssertionRecord) -> AssertionRecord:
    """Replace the verdict of the file by the doubt of the rules. A doubt of the file stays; its `supported` does not."""
    doubt = judge_by_rules(assertion.content, assertion.quote or "", assertion.context)
    is_by_model = assertion.verdict_by not in ("", Decider.RULES)
    if assertion.verdict.is_doubt and (doubt is None or is_by_model):
        return assertion
    finding = doubt or Finding()
    verdict = {"verdict": finding.verdict, "verdict_reason": finding.reason, "verdict_by": finding.judge}
    return assertion.model_copy(update=verdict)


def _match_quotes(assertions: Sequence[AssertionRecord], text: str) -> list[AssertionRecord | None]:
    return [_match_quote(assertion, text) for assertion in assertions]


def _match_quote(assertion: AssertionRecord, text: str) -> AssertionRecord | None:
    quote = assertion.quote or ""
    match = locate(quote, text)
    if match is None:
        return None
    start, end = match.start, match.end
    if match.quote == quote == text[assertion.quote_start or 0 : assertion.quote_end or 0]:
        # The same words can stand in a text twice.
        start, end = assertion.quote_start or 0, assertion.quote_end or 0
    place = {"quote": match.quote, "quote_start": start, "quote_end": end}
    return assertion.model_copy(update=place | {"context": context_of(text, start, end)})


def _unverified(assertion: AssertionRecord, stored_hashes: set[str]) -> AssertionRecord:
    return assertion.model_copy(
        update={
            "quote_state": QuoteState.UNVERIFIED,
            "quote_start": None,
            "quote_end": None,
            "snapshot_hash": assertion.snapshot_hash if assertion.snapshot_hash in stored_hashes else None,
        }
    )
