"""What has become of a subject between two moments."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from chiron_api.answers.basics import Answer
from chiron_api.answers.facts import FactStatus


class FactDifference(Answer):
    """A fact that is new or was otherwise before; what it was is null of a new one."""

    id: UUID
    content: str
    quote: str | None
    context: str
    source_url: str
    topic_path: str
    status: FactStatus
    confidence: float
    status_before: FactStatus | None
    confidence_before: float | None
    at: datetime
    reason: str
    superseded_by: UUID | None


class Corroboration(Answer):
    """A fact that further sources say, too."""

    id: UUID
    content: str
    topic_path: str
    confidence: float
    sources: list[str]
    at: datetime


class FactContradiction(Answer):
    """Two facts of which the later contradicts the other."""

    id: UUID
    content: str
    source_url: str
    other_id: UUID
    other_content: str
    other_source_url: str
    reason: str
    at: datetime


class SourceDifference(Answer):
    """A source that is gone, is back, or no longer says what facts rest on; `lost_fact_ids` lost what they rest on."""

    url: str
    kind: Literal["changed", "gone", "back"]
    at: datetime
    reason: str
    agreement: float | None
    fact_ids: list[UUID]
    lost_fact_ids: list[UUID]


class Difference(Answer):
    """What is different in a subject between two times, by kind; `counts` are whole, lists may be cut."""

    subject_id: str
    since: datetime
    until: datetime
    is_empty: bool
    counts: dict[str, int]
    new: list[FactDifference]
    lifted: list[FactDifference]
    restored: list[FactDifference]
    changed: list[FactDifference]
    dropped: list[FactDifference]
    superseded: list[FactDifference]
    withdrawn: list[FactDifference]
    corroborated: list[Corroboration]
    contradicted: list[FactContradiction]
    sources: list[SourceDifference]
    candidates: list[FactDifference]
