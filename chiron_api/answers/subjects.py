"""Subjects, the times of their subscriptions, and rechecks of their sources."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from chiron_api.answers.basics import Answer, Usd
from chiron_api.answers.facts import FactStatus, Ground, Omission
from chiron_api.answers.reports import NodeCoverage


class Subject(Answer):
    """A subject with its learning goal; `purpose_statement` is null until a goal is saved."""

    subject_id: str
    title: str
    purpose_statement: str | None
    target_depth: str


class SubjectList(Answer):
    """Every subject, by name."""

    items: list[Subject]


class Coverage(Answer):
    """The coverage map of a subject, parents before what is below them.

    `missing` are the ids of nodes that nothing is known of, goal-critical ones first. `unmapped_facts` belong to no node;
    `is_cut` where the map is too large to be shown whole.
    """

    nodes: list[NodeCoverage]
    missing: list[str]
    unmapped_facts: int
    is_cut: bool


class SubjectDetails(Subject):
    """A subject with its coverage map; `facts` counts its facts by status, `documents` those of its corpus."""

    facts: dict[FactStatus, int]
    documents: int
    coverage: Coverage


class Document(Answer):
    """A document of the corpus of a subject."""

    subject_id: str
    url: str
    title: str
    chars: int
    passages: int
    added_at: datetime


class DocumentList(Answer):
    """The documents of a subject, by address."""

    items: list[Document]


class DocumentFact(Answer):
    """A fact that lost its words by a change of a document, or has them again."""

    fact_id: UUID
    url: str
    ground: Ground


class DocumentReceipt(Answer):
    """A document that was stored; `facts` are those that its change bears on, `left_out` is what its text lacks of the file."""

    subject_id: str
    url: str
    title: str
    content_type: str
    passages: int
    state: Literal["new", "changed", "unchanged"]
    facts: list[DocumentFact]
    left_out: list[Omission] | None = None


class Subscription(Answer):
    """Research that recurs. `reason` says why it is paused, or why its latest time was passed over.

    `next_at` is null unless it is active, `last_batch_id` is what its latest time started. `last_counts` are the differences
    that this time brought, null while they are not counted.
    """

    id: UUID
    subject_id: str
    topics: list[str]
    context: str | None
    role: str
    model: str
    cron: str
    time_zone: str
    budget_usd: Usd | None
    made_by: str
    run_id: UUID | None
    state: Literal["active", "paused", "ended"]
    reason: str
    next_at: datetime | None
    last_due_at: datetime | None
    last_batch_id: UUID | None
    last_finished_at: datetime | None
    last_counts: dict[str, int] | None
    times: int
    times_skipped: int
    ends_at: datetime | None
    recheck: bool
    created_at: datetime


class SubscriptionList(Answer):
    """A page of subscriptions, newest first; `next` is the `after` of the next page, null on the last."""

    items: list[Subscription]
    next: UUID | None


class SubscriptionTime(Answer):
    """What a time of a subscription started and changed; `counts` is null while its batch is not finished."""

    batch_id: UUID
    due_at: datetime
    since: datetime
    finished_at: datetime | None
    is_empty: bool | None
    counts: dict[str, int] | None


class SubscriptionTimeList(Answer):
    """The last times of a subscription, latest first."""

    items: list[SubscriptionTime]


class SourceOutcome(Answer):
    """What became of a source since it was read before, in a sentence."""

    url: str
    note: str


class FactOutcome(Answer):
    """A fact that has another status by a recheck; `superseded_by` is what its source says instead."""

    fact_id: UUID
    content: str
    source_url: str
    status: FactStatus
    superseded_by: UUID | None


class ContextOutcome(Answer):
    """A fact whose quote a recheck found among other words, or among its old words again; `words` are the changed ones."""

    fact_id: UUID
    content: str
    source_url: str
    status: FactStatus
    words: str


class RecheckOutcome(Answer):
    """What a recheck has found; `left_out` counts the sources that the next one begins with."""

    subject_id: str
    sources: int
    unchanged_sources: int
    left_out: int
    changed_sources: list[SourceOutcome]
    gone_sources: list[SourceOutcome]
    back_sources: list[SourceOutcome]
    unread_sources: list[SourceOutcome]
    retracted_sources: list[SourceOutcome]
    superseded_facts: list[FactOutcome]
    restored_facts: list[FactOutcome]
    doubtful_facts: list[ContextOutcome] = Field(default_factory=list)
    cleared_facts: list[ContextOutcome] = Field(default_factory=list)


class Recheck(Answer):
    """An order to read the sources of a subject's facts again, with what was found once it is completed."""

    id: UUID
    subject_id: str
    subscription_id: UUID | None
    state: Literal["queued", "running", "completed", "failed"]
    created_at: datetime
    finished_at: datetime | None
    outcome: RecheckOutcome | None
    error: str


class CheckReceipt(Answer):
    """Facts of a subject that no model has judged, and the batch that asks `judge` about them.

    `unchecked` counts them, `unverified` those that cannot be checked. Without open facts there is no batch.
    """

    subject_id: str
    unchecked: int
    unverified: int
    judge: str
    batch_id: UUID | None = None
    run_ids: list[UUID] = Field(default_factory=list)
    is_new: bool = False
