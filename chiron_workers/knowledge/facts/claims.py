from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chiron_workers.db.validation import clean_text, collapse_whitespace, unit_interval
from chiron_workers.errors import ToolValidationError
from chiron_workers.evidence.statements.support import UNCHECKED, Finding
from chiron_workers.evidence.validity import Validity, read_validity
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.facts.source_kinds import bind, kind_of
from chiron_workers.knowledge.facts.source_views import SourceView
from chiron_workers.sources.sources import address
from chiron_workers.states import QuoteState, SourceKind

CONTENT_CHARS_MAX = 4_000
QUOTE_CHARS_MAX = 4_000
URL_CHARS_MAX = 2_000
PATH_CHARS_MAX = 500
CONTRADICTIONS_MAX = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a quote is: the snapshot, and the characters of its text from `start` up to `end`."""

    snapshot_hash: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that is to become a fact, with what it rests on.

    `confidence` is what its author claims, and `claimed_score` how far its source is to be trusted. `place` is known once
    the quote was found in a snapshot of the source; `snapshot_hash` alone says which text the source gave, and `observed_at`
    when it was read. `context` stands around the quote there, `view` is all that a reader sees around it, and `finding` is the
    verdict on them.
    """

    subject_id: str
    content: str
    source_url: str
    claimed_score: float
    topic_path: str
    confidence: float
    contradictions: tuple[str, ...] = ()
    quote: str | None = None
    place: Place | None = None
    snapshot_hash: str | None = None
    context: str = ""
    view: SourceView | None = None
    finding: Finding = UNCHECKED
    observed_at: datetime | None = None
    stated_kind: SourceKind | None = None  # what its source says it is

    @property
    def source_kind(self) -> SourceKind:
        """What its address tells of its source, or else what that says of itself."""
        return kind_of(self.source_url, self.stated_kind)

    @property
    def source_score(self) -> float:
        """The claimed score within the band of the kind of its source."""
        score: float = bind(self.source_url, self.claimed_score, self.stated_kind)["source_score"]
        return score

    @property
    def quote_state(self) -> QuoteState:
        """Verified where the quote was found in the source."""
        return QuoteState.VERIFIED if self.place else QuoteState.UNVERIFIED

    @property
    def counts_in_full(self) -> bool:
        """Whether its quote was found in the source, and no verdict says that it does not bear the statement out."""
        return self.place is not None and not self.finding.verdict.is_doubt

    @property
    def validity(self) -> Validity:
        """From when until when it is so, as far as its own words say it."""
        return read_validity(self.content)

    @property
    def text_hash(self) -> str | None:
        """The snapshot it rests on, if the source was read."""
        return self.place.snapshot_hash if self.place else self.snapshot_hash


def claim(
    *,
    subject_id: str,
    content: str,
    source_url: str,
    source_score: float,
    topic_path: str,
    confidence: float,
    contradictions: Sequence[str] = (),
    quote: str | None = None,
) -> Claim:
    """A claim fit to be stored. Raises ToolValidationError, which names the argument and what is wrong."""
    if len(contradictions) > CONTRADICTIONS_MAX:
        raise ToolValidationError(
            f"contradictions: must have at most {CONTRADICTIONS_MAX} entries (got {len(contradictions)}).",
            field="contradictions",
        )
    return Claim(
        subject_id=slug(subject_id),
        content=clean_text(content, field="content", chars_max=CONTENT_CHARS_MAX),
        source_url=address(clean_text(source_url, field="source_url", chars_max=URL_CHARS_MAX)),
        claimed_score=unit_interval(source_score, field="source_score"),
        topic_path=path(topic_path),
        confidence=unit_interval(confidence, field="confidence"),
        contradictions=tuple(
            dict.fromkeys(
                clean_text(statement, field="contradictions", chars_max=CONTENT_CHARS_MAX)
                for statement in contradictions
            )
        ),
        quote=clean_text(quote, field="quote", chars_max=QUOTE_CHARS_MAX)
        if quote and quote.strip()
        else None,
    )


def path(topic_path: str, *, example: str = "area/topic/detail") -> str:
    """A topic path in one form: " Python // data  model/ " becomes "Python/data model"."""
    steps = [
        collapse_whitespace(step)
        for step in clean_text(topic_path, field="topic_path", chars_max=PATH_CHARS_MAX).split("/")
    ]
    if not any(steps):
        raise ToolValidationError(f"topic_path: must be a path such as {example}.", field="topic_path")
    return "/".join(step for step in steps if step)
