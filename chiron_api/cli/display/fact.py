"""One fact as text: its assertions with their sources, the explanation of its confidence, related facts and history."""

from collections.abc import Iterator

from chiron_api.text import local_time, one_line, validity, verdict_and_judge
from chiron_workers.documents.omissions import describe
from chiron_workers.knowledge.facts.fact_details import AssertionDetails, FactDetails, FactState
from chiron_workers.states import Ground, QuoteState, Verdict

QUOTE_CHARS = 2_000
HASH_CHARS = 12
WINDOW_CHARS = 6_000  # a window has no more
LEFT_OUT_CHARS = 1_000
SCORES_DIFFER = 0.005  # two decimals are shown


def fact_lines(fact: FactDetails) -> Iterator[str]:
    """The lines that `chiron show FACT` prints."""
    claimed_part = f" (claimed {fact.claimed_confidence:.2f})" if fact.claimed_confidence is not None else ""
    run_part = f" by run {fact.run_id}" if fact.run_id else ""
    fields = {
        "fact": fact.id,
        "subject": fact.subject_id,
        "topic": one_line(fact.topic_path),
        "status": f"{fact.status}, confidence {fact.confidence:.2f}{claimed_part}",
        "stored": f"{local_time(fact.created_at)}{run_part}",
    }
    yield from (f"{name:9}{value}" for name, value in fields.items())
    yield f"\n{one_line(fact.content, chars_max=4_000)}"
    if fact.superseded_by:
        yield f"  superseded by {fact.superseded_by}"
    own = fact.assertions[0]
    if span := validity(own.valid_from, own.valid_until):
        yield f"  {span}"
    yield "\nRests on"
    for number, assertion in enumerate(fact.assertions, start=1):
        yield from _assertion_lines(number, assertion, fact.content)
    yield "\nHow sure"
    yield from (f"  {line}" for line in fact.explanation)
    if fact.related or fact.contradictions:
        yield "\nRelated"
    for related in fact.related:
        yield f"  {related.relation}: {one_line(related.content, chars_max=500)}"
        why = one_line(related.reason, chars_max=300)
        yield f"    fact {related.fact_id} ({related.status}, {related.confidence:.2f}), by the {related.decided_by}: {why}"
    for statement in fact.contradictions:
        yield f"  set against it, without a source: {one_line(statement, chars_max=500)}"
    yield "\nHistory"
    yield from (_state(state) for state in fact.history)


def _assertion_lines(number: int, assertion: AssertionDetails, content: str) -> Iterator[str]:
    words = f"“{one_line(assertion.quote, chars_max=QUOTE_CHARS)}”" if assertion.quote else "no quote"
    is_verified = assertion.quote_state == QuoteState.VERIFIED
    yield f"  {number}. {words}{'' if is_verified else '  (not verified)'}"
    names = [one_line(name) for name in (assertion.source_title, assertion.source_author) if name]
    dates = [f"of {assertion.published_at:%Y-%m-%d}"] if assertion.published_at else []
    yield f"     {', '.join([*names, *dates, one_line(assertion.source_url)])} ({_source_words(assertion)})"
    yield f"     {_verdict_line(assertion)}"
    if assertion.source_mark:
        words = f": {one_line(assertion.context_change, chars_max=700)}" if assertion.context_change else ""
        yield f"     {assertion.source_mark}{words}"
    if left_out := describe(assertion.left_out):
        yield f"     left out of this source: {one_line(left_out, chars_max=LEFT_OUT_CHARS)}"
    if assertion.content != content:
        span = validity(assertion.valid_from, assertion.valid_until)
        yield f"     stored as: {one_line(assertion.content, chars_max=500)}{f' ({span})' if span else ''}"
    if is_verified and assertion.snapshot_hash:
        read_at = (
            f", read {local_time(assertion.observed_at, '%Y-%m-%d %H:%M')}" if assertion.observed_at else ""
        )
        place = f"characters {assertion.quote_start:,} to {assertion.quote_end:,}"
        yield f"     {place} of snapshot {assertion.snapshot_hash[:HASH_CHARS]}{read_at}"
    yield from _window_lines(assertion)


def _window_lines(assertion: AssertionDetails) -> Iterator[str]:
    """The window around the quote, which the verdict also rests on; just the nearest words if the text is not kept."""
    if assertion.window:
        yield f"     what a reader of the source sees around it (window {(assertion.window_hash or '')[:HASH_CHARS]}):"
    elif assertion.context:
        yield f"     around it: {one_line(assertion.context, chars_max=500)}"
    for piece in assertion.window:
        yield f"       {piece.kind}, from {piece.start:,}: {one_line(piece.text, chars_max=WINDOW_CHARS)}"


def _source_words(assertion: AssertionDetails) -> str:
    is_moved = abs(assertion.claimed_score - assertion.source_score) > SCORES_DIFFER
    claimed_part = f", its agent said {assertion.claimed_score:.2f}" if is_moved else ""
    return f"{assertion.source_kind.words}, score {assertion.source_score:.2f}{claimed_part}"


def _verdict_line(assertion: AssertionDetails) -> str:
    reason = f": {one_line(assertion.verdict_reason, chars_max=300)}" if assertion.verdict_reason else ""
    verdict = verdict_and_judge(
        Verdict(assertion.verdict),
        assertion.verdict_by,
        ground=Ground(assertion.ground),
        observed_at=assertion.observed_at,
        is_verbatim=assertion.is_verbatim,
    )
    return f"{verdict}{reason}"


def _state(state: FactState) -> str:
    at = local_time(state.at)
    return f"  {at}  {state.status} {state.confidence:.2f}  {one_line(state.reason, chars_max=200)}"
