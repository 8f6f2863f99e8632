"""One fact as a person reads it: what it rests on, how sure it is and why, and what stands against it."""

from collections.abc import Iterator

from chiron_api.text import one_line
from chiron_workers.knowledge.facts.fact_details import AssertionDetails, FactDetails, FactState
from chiron_workers.states import QuoteState

QUOTE_CHARS = 2_000
HASH_CHARS = 12


def lines(found: FactDetails) -> Iterator[str]:
    """The lines of a fact's page."""
    claimed = f" (claimed {found.claimed_confidence:.2f})" if found.claimed_confidence is not None else ""
    yield from _fields(
        {
            "fact": found.id,
            "subject": found.subject_id,
            "topic": one_line(found.topic_path),
            "status": f"{found.status}, confidence {found.confidence:.2f}{claimed}",
            "stored": f"{found.created_at.astimezone():%Y-%m-%d %H:%M:%S}"
            + (f" by run {found.run_id}" if found.run_id else ""),
        }
    )
    yield f"\n{one_line(found.content, chars_max=4_000)}"
    yield "\nRests on"
    for number, backing in enumerate(found.assertions, start=1):
        yield from _backing(number, backing, found.content)
    yield "\nHow sure"
    yield from (f"  {line}" for line in found.explanation)
    if found.related or found.contradictions:
        yield "\nRelated"
    for other in found.related:
        yield f"  {other.relation}: {one_line(other.content, chars_max=500)}"
        why = one_line(other.reason, chars_max=300)
        yield f"    fact {other.fact_id} ({other.status}, {other.confidence:.2f}), by the {other.decided_by}: {why}"
    for statement in found.contradictions:
        yield f"  set against it, without a source: {one_line(statement, chars_max=500)}"
    yield "\nHistory"
    yield from (_state(state) for state in found.history)


def _backing(number: int, backing: AssertionDetails, content: str) -> Iterator[str]:
    words = f"“{one_line(backing.quote, chars_max=QUOTE_CHARS)}”" if backing.quote else "no quote"
    is_verified = backing.quote_state == QuoteState.VERIFIED
    yield f"  {number}. {words}{'' if is_verified else '  (not verified)'}"
    names = [one_line(name) for name in (backing.source_title, backing.source_author) if name]
    dated = [f"of {backing.published_at:%Y-%m-%d}"] if backing.published_at else []
    yield f"     {', '.join([*names, *dated, one_line(backing.source_url)])} (score {backing.source_score:.2f})"
    if backing.source_mark:
        yield f"     {backing.source_mark}"
    if backing.content != content:
        yield f"     stored as: {one_line(backing.content, chars_max=500)}"
    if is_verified and backing.snapshot_hash:
        read = f", read {backing.fetched_at.astimezone():%Y-%m-%d %H:%M}" if backing.fetched_at else ""
        place = f"characters {backing.quote_start:,} to {backing.quote_end:,}"
        yield f"     {place} of snapshot {backing.snapshot_hash[:HASH_CHARS]}{read}"


def _state(state: FactState) -> str:
    at = f"{state.at.astimezone():%Y-%m-%d %H:%M:%S}"
    return f"  {at}  {state.status} {state.confidence:.2f}  {one_line(state.reason, chars_max=200)}"


def _fields(fields: dict[str, str]) -> Iterator[str]:
    yield from (f"{name:9}{value}" for name, value in fields.items())
