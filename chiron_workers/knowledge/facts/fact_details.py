from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.documents.omissions import LeftOut, from_rows
from chiron_workers.errors import NotFound
from chiron_workers.evidence.confidence import Confidence, explain
from chiron_workers.evidence.statements.wording import is_verbatim
from chiron_workers.knowledge.facts.confidences import Confidences, status_of
from chiron_workers.knowledge.facts.objections import unlinked_objections
from chiron_workers.knowledge.facts.source_kinds import with_kind
from chiron_workers.knowledge.facts.source_views import SourceView, load_views
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.sources.changes import SourceChanges, source_mark
from chiron_workers.states import FactStatus, Ground, QuoteState, Relation, SourceKind, Verdict

SQL = load(__file__)
WINDOWS_MAX = 20  # each is cut out of a text that may have millions of characters


@dataclass(frozen=True, slots=True)
class WindowPiece:
    """A piece of what a reader of the source sees around the quote: the characters of the snapshot from `start` up to `end`."""

    kind: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class AssertionDetails:
    """An assertion of a fact by a source; `quote_start` and `quote_end` count characters of the snapshot's text.

    `source_score` is what the agent gave its source, `claimed_score`, within the band of `source_kind`. `context` stands right
    around the quote in the source, and `window` is what its reader sees around it, with the sha256 of the words; it is empty
    where the text is not kept, and for sources after the 20th. `verdict` says whether the quote, so understood, supports the
    statement, and `verdict_by` who found that: the name of a model, `rules`, which only doubt, or nobody. `is_verbatim` notes
    that the statement has the source's own words, which is no verdict. `source_mark` says what became of the source since
    then: that it is gone, or no longer holds the quote; `ground` says so in a word that is `stands` otherwise.
    `observed_at` is when the source was read; `valid_from` and `valid_until` say from when until when the content is so (a
    year, month or day), where its words do. `context_change` says which words around the quote are new or gone, where `ground`
    is `context changed`. `left_out` is what the reader of the source left out of its text; None where
    nobody knows.
    """

    id: str
    content: str
    quote: str | None
    quote_state: str
    quote_start: int | None
    quote_end: int | None
    source_url: str
    source_title: str
    source_author: str
    source_score: float
    claimed_score: float
    source_kind: SourceKind
    claimed_confidence: float | None
    snapshot_hash: str | None
    published_at: datetime | None
    fetched_at: datetime | None
    licence: str
    left_out: LeftOut
    run_id: UUID | None
    created_at: datetime
    context: str
    verdict: str
    verdict_reason: str
    verdict_by: str
    ground: str
    observed_at: datetime | None
    valid_from: str | None
    valid_until: str | None
    source_mark: str
    is_verbatim: bool
    window: tuple[WindowPiece, ...]
    window_hash: str | None
    context_change: str


@dataclass(frozen=True, slots=True)
class RelatedFact:
    """Another fact: this one `supports`, `contradicts` or `qualifies` it, or is `supported by` or `qualified by` it."""

    fact_id: str
    relation: str
    content: str
    source_url: str
    status: str
    confidence: float
    reason: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class FactState:
    """A fact's confidence and status from a moment on, and why; the first state is how it was stored."""

    at: datetime
    confidence: float
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class FactDetails:
    """All that is stored of one fact.

    `explanation` is how its confidence and its status come about, a line each; the weights are what stands for it and
    against it, and what is left, 0 to 1. `contradictions` are the statements that its agent set against it without naming
    a stored fact. `superseded_by` is the fact that its source says instead by now.
    """

    id: str
    subject_id: str
    content: str
    topic_path: str
    status: str
    confidence: float
    claimed_confidence: float | None
    superseded_by: str | None
    run_id: UUID | None
    created_at: datetime
    assertions: tuple[AssertionDetails, ...]
    explanation: tuple[str, ...]
    weight_for: float
    weight_against: float
    weight_left: float
    related: tuple[RelatedFact, ...]
    contradictions: tuple[str, ...]
    history: tuple[FactState, ...]


async def load_details(session: Session, fact_id: UUID) -> FactDetails:
    """Read what a fact rests on, how its confidence comes about, what contradicts it, and how it changed.

    Raises:
        NotFound: There is no such fact.
    """
    args = {"fact_id": fact_id}
    fact = await session.row(SQL["fact"], args)
    if fact is None:
        raise NotFound(f"There is no fact {fact_id}.")
    notes = fact.pop("contradictions")
    related = tuple(RelatedFact(**row) for row in await session.rows(SQL["related"], args))
    confidence = (await Confidences(session).of([str(fact_id)]))[str(fact_id)]
    assertions = await _load_assertions(session, fact_id)
    return FactDetails(
        **fact,
        assertions=assertions,
        explanation=tuple(_explain(fact, confidence, assertions)),
        weight_for=confidence.weight_for,
        weight_against=confidence.weight_against,
        weight_left=confidence.weight_left,
        related=related,
        contradictions=unlinked_objections(
            notes, (other.content for other in related if other.relation == Relation.CONTRADICTS)
        ),
        history=_history(fact, await session.rows(SQL["changes"], args)),
    )


def _explain(fact: DictRow, confidence: Confidence, assertions: Sequence[AssertionDetails]) -> Iterator[str]:
    threshold = settings().confidence_threshold
    if fact["status"] == FactStatus.SUPERSEDED:
        *sums, _ = explain(confidence, threshold=threshold, cap_reason="no source says so any more")
        yield from sums
        yield from filter(None, map(_loss, assertions))
        successor = f" by fact {fact['superseded_by']}" if fact["superseded_by"] else ""
        yield f"so it is superseded{successor}, out of sight"
        return
    *sums, conclusion = explain(confidence, threshold=threshold)
    yield from sums
    yield conclusion
    for assertion in assertions:
        if assertion.ground == Ground.CONTEXT_CHANGED:
            words = f" ({assertion.context_change})" if assertion.context_change else ""
            yield f"in doubt: {assertion.source_url} still has the quote, and other words around it{words}"
    if fact["status"] not in (FactStatus.WITHDRAWN, status := status_of(confidence)):
        yield f"it was {fact['status']} when it last changed; recomputing all confidences makes it {status}"


def _loss(assertion: AssertionDetails) -> str:
    """That a source supported the fact when it was read, and does so no more; empty where it stands or never did."""
    loss = Ground(assertion.ground).loss
    if not loss or assertion.quote_state != QuoteState.VERIFIED:
        return ""
    verb = "supported it" if assertion.verdict == Verdict.SUPPORTED else "stood there"
    read_at = f" on {assertion.observed_at:%Y-%m-%d}" if assertion.observed_at else ""
    return f"the quote {verb} when {assertion.source_url} was read{read_at}; {loss}"


async def _load_assertions(session: Session, fact_id: UUID) -> tuple[AssertionDetails, ...]:
    rows = await session.rows(SQL["assertions"], {"fact_id": fact_id})
    changes = await SourceChanges(session).of(row["source_url"] for row in rows)
    views = await load_views(session, [row["id"] for row in rows[:WINDOWS_MAX]])
    return tuple(
        AssertionDetails(
            **with_kind(row | {"left_out": from_rows(row["left_out"])}),
            source_mark=source_mark(row["id"], row["ground"], changes.get(row["source_url"])),
            is_verbatim=is_verbatim(row["content"], row["quote"] or ""),
            **_window(views.get(row["id"])),
        )
        for row in rows
    )


def _window(view: SourceView | None) -> dict[str, Any]:
    if view is None:
        return {"window": (), "window_hash": None}
    pieces = ((excerpt.piece, excerpt.words) for excerpt in view.excerpts)
    window = tuple(WindowPiece(piece.kind, piece.start, piece.end, words) for piece, words in pieces)
    return {"window": window, "window_hash": view.window_hash}


def _history(fact: DictRow, changes: Sequence[DictRow]) -> tuple[FactState, ...]:
    # A change holds what was before it, so that what came of it is in the next one, or in the fact.
    times = [fact["created_at"], *(change["at"] for change in changes)]
    reasons = ["stored", *(change["reason"] for change in changes)]
    states = [*changes, fact]
    return tuple(
        FactState(at, state["confidence"], state["status"], reason)
        for at, reason, state in zip(times, reasons, states, strict=True)
    )
