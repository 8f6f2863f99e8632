"""Facts, with what they rest on."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from chiron_api.answers.basics import Answer

FactStatus = Literal["accepted", "disputed", "candidate", "superseded", "withdrawn"]
QuoteState = Literal["verified", "unverified"]
Verdict = Literal["supported", "partly", "contradicted", "silent", "unchecked"]
Ground = Literal["stands", "context changed", "source changed", "source gone", "source retracted"]
SourceKind = Literal["academic", "official", "expert", "general", "user-generated", "own", "unknown"]


class FoundFact(Answer):
    """A fact that a search found. `score` is what facts are ordered by, higher is better.

    `similarity` is the cosine to the query, null in a search of text alone or where the fact has no vector.
    `corroborations` counts further sources that say the same, `contradicted_by` are ids of facts. `ground` says whether
    its source still says so, `superseded_by` what it says instead. `recall` is what the path to the nearest vectors was
    tested at.
    """

    id: UUID
    subject_id: str
    content: str
    quote: str | None
    quote_state: QuoteState
    context: str
    verdict: Verdict
    source_url: str
    source_score: float
    topic_path: str
    confidence: float
    status: FactStatus
    score: float
    similarity: float | None
    corroborations: int
    contradicted_by: list[UUID]
    observed_at: str | None
    valid_from: str | None
    valid_until: str | None
    ground: Ground
    superseded_by: UUID | None
    recall: float


class ListedFact(Answer):
    """A fact as a list shows it."""

    id: UUID
    subject_id: str
    content: str
    quote: str | None
    quote_state: QuoteState
    verdict: Verdict
    source_url: str
    topic_path: str
    confidence: float
    status: FactStatus
    run_id: UUID | None
    created_at: datetime


class FactList(Answer):
    """A page of facts, newest first; `next` is the `after` of the next page, null on the last."""

    items: list[ListedFact]
    next: UUID | None


class FoundFacts(Answer):
    """The best facts first.

    Where there are fewer than asked for, `unembedded` counts those that are found by their words only, since they were stored
    under another embedding model. `words_only` where nobody could pay for the embedding of the query; `note` says why.
    """

    items: list[FoundFact]
    unembedded: int = 0
    words_only: bool = False
    note: str = ""


class Omission(Answer):
    """One kind of thing that a source holds and its text does not: how many there are, and where the first one is."""

    kind: str
    count: int
    place: str


class WindowPiece(Answer):
    """A piece of what a reader of the source sees around the quote: the characters of the snapshot from `start` up to `end`.

    `kind` is section, heading, lead-in, table head, table notes, reply, note, page head or page foot.
    """

    kind: str
    start: int
    end: int
    text: str


class Assertion(Answer):
    """A source that states a fact; `quote_start` and `quote_end` count characters of the snapshot's text.

    `source_score` is what the agent gave the source, `claimed_score`, within the band of `source_kind`. `verdict` says whether
    the quote supports the statement. `verdict_by` is the name of a model, or `rules`, which only doubt; it is empty if nothing
    has judged the statement. `is_verbatim` notes that the statement has the source's own words, which is not a verdict. `ground`
    says whether the source still says so, `source_mark` what became of it. `valid_from` and `valid_until` are years, months or
    days. `left_out` is what the text of the source lacks; None if an earlier version has read it, which did not record that.
    `window` is what a reader of the source sees around the quote, and `window_hash` the sha256 of its words. The window is
    empty if the text is not kept, and after the first 20 sources. `context_change` says which words around the quote are new or
    gone if `ground` is `context changed`.
    """

    id: UUID
    content: str
    quote: str | None
    quote_state: QuoteState
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
    left_out: list[Omission] | None = None
    run_id: UUID | None
    created_at: datetime
    context: str
    verdict: Verdict
    verdict_reason: str
    verdict_by: str
    is_verbatim: bool
    ground: Ground
    observed_at: datetime | None
    valid_from: str | None
    valid_until: str | None
    source_mark: str
    window: tuple[WindowPiece, ...] = ()
    window_hash: str | None = None
    context_change: str = ""


class RelatedFact(Answer):
    """Another fact: this one `supports`, `contradicts` or `qualifies` it, or is `supported by` or `qualified by` it."""

    fact_id: UUID
    relation: str
    content: str
    source_url: str
    status: FactStatus
    confidence: float
    reason: str
    decided_by: str


class FactState(Answer):
    """A fact's confidence and status from a moment on, and why."""

    at: datetime
    confidence: float
    status: FactStatus
    reason: str


class Fact(Answer):
    """All that is stored of one fact.

    `reckoning` is how its confidence and status come about, a line each; the weights are what stands for it and against it,
    and what is left, 0 to 1. `contradictions` are statements that its agent set against it without naming a stored fact.
    """

    id: UUID
    subject_id: str
    content: str
    topic_path: str
    status: FactStatus
    confidence: float
    claimed_confidence: float | None
    superseded_by: UUID | None
    run_id: UUID | None
    created_at: datetime
    assertions: list[Assertion]
    reckoning: list[str]
    weight_for: float
    weight_against: float
    weight_left: float
    related: list[RelatedFact]
    contradictions: list[str]
    history: list[FactState]
