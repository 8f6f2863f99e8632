"""What a file of exported knowledge holds, record by record; docs/reports.md describes it."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from chiron_workers.documents.authors import NAMES_MAX
from chiron_workers.documents.omissions import OMISSIONS_MAX
from chiron_workers.errors import ToolValidationError
from chiron_workers.knowledge.facts.claims import path
from chiron_workers.sources.sources import address
from chiron_workers.states import Decider, FactStatus, Ground, QuoteState, Relation, SourceKind, Verdict

KIND, VERSION = "chiron.export", 1
# Bounds of what is stored, with room for quotes that were extended to whole sentences.
CONTENT_CHARS_MAX = 4_000
QUOTE_CHARS_MAX = 20_000
URL_CHARS_MAX = 2_000
PATH_CHARS_MAX = 500
PER_FACT_MAX = 10_000
TEXT_CHARS_MAX = 50_000_000
CLOCKS_DIFFER = timedelta(days=1)


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("holds a NUL character, which cannot be stored")
    return text


def _as_kept(form: Callable[[str], str]) -> AfterValidator:
    """The form in which something is stored, so that what is known is met and filters find it."""

    def formed(text: str) -> str:
        try:
            return form(text)
        except ToolValidationError as error:
            raise ValueError(str(error)) from None

    return AfterValidator(formed)


STORABLE = AfterValidator(_storable)
Content = Annotated[str, Field(min_length=1, max_length=CONTENT_CHARS_MAX), STORABLE]
Url = Annotated[str, Field(min_length=1, max_length=URL_CHARS_MAX), STORABLE]
Title = Annotated[str, Field(max_length=2_000), STORABLE]
Reason = Annotated[str, Field(max_length=4_000), STORABLE]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Share = Annotated[float, Field(ge=0, le=1)]
Day = Annotated[str, Field(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")]  # or a month, or a year
Offset = Annotated[int, Field(ge=0, le=2**31 - 1)]


class Record(BaseModel):
    """A part of a file; an unknown field is refused, since it is most likely a typing error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Head(Record):
    """The first line: what kind of file it is."""

    kind: Literal["chiron.export"]
    version: Literal[1]
    exported_at: AwareDatetime


class SubjectRecord(Record):
    """A subject with its learning goal."""

    kind: Literal["subject"] = "subject"
    subject_id: Slug
    title: Annotated[str, Field(min_length=1, max_length=300), STORABLE]
    purpose_statement: Annotated[str, Field(max_length=4_000), STORABLE] | None = None
    target_depth: Annotated[str, Field(max_length=100), STORABLE] = "practical"


class OmissionRecord(Record):
    """One kind of thing that a source holds and its text does not."""

    kind: Annotated[str, Field(min_length=1, max_length=200), STORABLE]
    count: Annotated[int, Field(ge=0, le=2**31 - 1)]
    place: Annotated[str, Field(max_length=200), STORABLE] = ""


class SourceRecord(Record):
    """That an address gave a text; the text itself where it was exported with it.

    `left_out` is what the text lacks of its source; None where nobody knows.
    """

    kind: Literal["source"] = "source"
    url: Url
    hash: Hash
    title: Title = ""
    author: Title = ""
    authors: Annotated[tuple[Title, ...], Field(max_length=NAMES_MAX)] | None = None
    doi: Title = ""
    licence: Title = ""
    published_at: AwareDatetime | None = None
    fetched_at: AwareDatetime | None = None
    left_out: Annotated[tuple[OmissionRecord, ...], Field(max_length=OMISSIONS_MAX + 1)] | None = None
    content_type: Annotated[str, Field(max_length=200), STORABLE] | None = None
    text: Annotated[str, Field(max_length=TEXT_CHARS_MAX), STORABLE] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.text is not None and hashlib.sha256(self.text.encode()).hexdigest() != self.hash:
            raise ValueError("the text is not the one that the hash was made of")
        if self.fetched_at is not None and self.fetched_at > datetime.now(UTC) + CLOCKS_DIFFER:
            raise ValueError("fetched_at lies in the future")
        return self


class AssertionRecord(Record):
    """That a source says so; the first of a fact is its own, and has its id."""

    id: UUID
    content: Content
    quote: Annotated[str, Field(min_length=1, max_length=QUOTE_CHARS_MAX), STORABLE] | None = None
    quote_state: QuoteState = QuoteState.UNVERIFIED
    quote_start: Offset | None = None
    quote_end: Offset | None = None
    source_url: Annotated[Url, _as_kept(address)]
    source_score: Share
    claimed_score: Share | None = None
    source_kind: SourceKind | None = None
    claimed_confidence: Share | None = None
    snapshot_hash: Hash | None = None
    context: Reason = ""
    verdict: Verdict = Verdict.UNCHECKED
    verdict_reason: Reason = ""
    verdict_by: Annotated[str, Field(max_length=200), STORABLE] = ""
    observed_at: AwareDatetime | None = None
    valid_from: Day | None = None
    valid_until: Day | None = None
    ground: Ground = Ground.STANDS
    created_at: AwareDatetime


class ChangeRecord(Record):
    """What a fact was before a change."""

    id: UUID
    confidence: Share
    status: FactStatus
    reason: Reason = ""
    at: AwareDatetime


class LinkRecord(Record):
    """How the fact stands to another one of the file."""

    other_id: UUID
    relation: Literal[Relation.SUPPORTS, Relation.CONTRADICTS, Relation.QUALIFIES]
    decided_by: Decider
    reason: Reason = ""
    created_at: AwareDatetime


class FactRecord(Record):
    """A fact with all that speaks for it, what it was before, and how it stands to others."""

    kind: Literal["fact"] = "fact"
    id: UUID
    subject_id: Slug
    topic_path: Annotated[str, Field(min_length=1, max_length=PATH_CHARS_MAX), STORABLE, _as_kept(path)]
    status: FactStatus
    confidence: Share
    superseded_by: UUID | None = None
    contradictions: Annotated[list[Content], Field(max_length=100)] = []
    validated_at: AwareDatetime
    created_at: AwareDatetime
    assertions: Annotated[list[AssertionRecord], Field(min_length=1, max_length=PER_FACT_MAX)]
    changes: Annotated[list[ChangeRecord], Field(max_length=PER_FACT_MAX)] = []
    links: Annotated[list[LinkRecord], Field(max_length=PER_FACT_MAX)] = []

    @model_validator(mode="after")
    def _first_assertion_is_its_own(self) -> Self:
        if self.assertions[0].id != self.id:
            raise ValueError("the first assertion must have the id of the fact")
        if any(link.other_id == self.id for link in self.links):
            raise ValueError("a fact cannot be linked to itself")
        return self


AnyRecord = Head | SubjectRecord | SourceRecord | FactRecord
