"""The proof of a fact: a stretch of the text that its source gave, with the quote in it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from chiron_workers.knowledge import transfers
from chiron_workers.knowledge.facts.fact_details import AssertionDetails, FactDetails, RelatedFact
from chiron_workers.runs.session import Session
from chiron_workers.states import Relation

STRETCH_CHARS = 6_000
QUOTE_CHARS_SHOWN = 20_000
LINE_CHARS_MAX = 300  # a stretch begins and ends with a line where one ends so near


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text around a quote; `quote` is empty where the quote stands elsewhere in the text, or nowhere.

    `earlier` and `later` are where the stretches before and after it begin, None at the ends of the text.
    """

    before: str
    quote: str
    after: str
    start: int
    end: int
    chars: int
    earlier: int | None
    later: int | None


@dataclass(frozen=True, slots=True)
class Proof:
    """One source of a fact, by its number from 1, and what is shown of its text; no stretch where none was kept."""

    number: int
    assertion: AssertionDetails
    stretch: Stretch | None


def sources_of(fact: FactDetails) -> tuple[AssertionDetails, ...]:
    """The sources of a fact in the order of a report: first the one that it was stored from."""
    return tuple(sorted(fact.assertions, key=lambda assertion: (assertion.id != fact.id, assertion.id)))


def opponents_of(fact: FactDetails) -> list[RelatedFact]:
    """The facts that contradict a fact."""
    return [relative for relative in fact.related if relative.relation == Relation.CONTRADICTS]


async def load(
    session: Session, sources: Sequence[AssertionDetails], *, number: int, at: int | None
) -> Proof | None:
    """The source of a number, with its text from a character on, or around its quote; None where there is none."""
    if not sources:
        return None
    number = min(number, len(sources))
    assertion = sources[number - 1]
    if assertion.snapshot_hash is None:
        return Proof(number, assertion, None)
    text = await transfers.text(session, assertion.snapshot_hash)
    # A text may have millions of characters; what else runs on this loop goes on.
    return Proof(number, assertion, await asyncio.to_thread(_cut, text, _place(assertion, text), at))


def _place(assertion: AssertionDetails, text: str) -> tuple[int, int] | None:
    start, end = assertion.quote_start, assertion.quote_end
    if start is None or end is None or not 0 <= start < end <= len(text):
        return None
    return start, min(end, start + QUOTE_CHARS_SHOWN)


def _cut(text: str, place: tuple[int, int] | None, at: int | None) -> Stretch:
    if at is None and place:
        room = max(STRETCH_CHARS - (place[1] - place[0]), STRETCH_CHARS // 3)
        start, end = place[0] - room // 2, place[1] + room // 2
    else:
        start = min(at or 0, max(0, len(text) - 1))
        end = start + STRETCH_CHARS
    start, end = max(0, start), min(len(text), end)
    if at is None and place:
        start = _line_start(text, start, place[0])
    end = _line_end(text, end, max(start, place[1] if place and place[1] <= end else start))
    quote_start, quote_end = (max(start, place[0]), min(end, place[1])) if place else (end, end)
    if quote_start >= quote_end:
        quote_start = quote_end = end
    return Stretch(
        before=text[start:quote_start],
        quote=text[quote_start:quote_end],
        after=text[quote_end:end],
        start=start,
        end=end,
        chars=len(text),
        earlier=max(0, start - STRETCH_CHARS) if start else None,
        later=end if end < len(text) else None,
    )


def _line_start(text: str, start: int, limit: int) -> int:
    """The beginning of the next line, where it is near and not behind the limit; else of the next word."""
    if start == 0:
        return 0
    line = text.find("\n", start, min(start + LINE_CHARS_MAX, limit))
    word = text.find(" ", start, min(start + LINE_CHARS_MAX, limit))
    return next((place + 1 for place in (line, word) if place >= 0), start)


def _line_end(text: str, end: int, limit: int) -> int:
    """The end of the last line, where it is near and not before the limit; else of the last word."""
    if end == len(text):
        return end
    line = text.rfind("\n", max(end - LINE_CHARS_MAX, limit), end)
    word = text.rfind(" ", max(end - LINE_CHARS_MAX, limit), end)
    return next((place + 1 for place in (line, word) if place >= 0), end)
