"""The JSON documents of a crate, as far as they are checked; further fields are read over."""

from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, FailFast, Field, ValidationError

from chiron_api.crate.archive import Archive, CrateRefused, read
from chiron_api.crate.layout import JSON_BYTES_MAX, is_readable
from chiron_api.text import one_line
from chiron_workers.states import Verdict

Document = TypeVar("Document", bound="Part")
Item = TypeVar("Item")
# Else each of a million wrong entries would be an error of its own, of a kilobyte.
Many = Annotated[tuple[Item, ...], FailFast()]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Part(BaseModel):
    """A part of a document; a value of another type is refused."""

    model_config = ConfigDict(strict=True, frozen=True, populate_by_name=False)


class TextQuote(Part):
    """A passage and what stands around it."""

    type: Literal["TextQuoteSelector"]
    exact: str
    prefix: str
    suffix: str


class TextPosition(Part):
    """From which code point of the text to which."""

    type: Literal["TextPositionSelector"]
    start: Count
    end: Count


class State(Part):
    """Where the text is that the positions count in."""

    cached: str


class Target(Part):
    """A passage of a source."""

    source: str
    state: State
    selector: tuple[TextQuote, TextPosition]


class Citation(Part):
    """What a finding rests on: `source` is a number."""

    source: Number
    wording: str
    quote: str
    is_verified: bool
    assertion_id: str
    target: Target | None
    context: str = ""
    verdict: Verdict = Verdict.UNCHECKED
    verdict_by: str = ""


class Relative(Part):
    """Another finding, by its number."""

    number: Number


class Finding(Part):
    """A fact of the report."""

    number: Number
    fact_id: str
    content: str
    citations: Many[Citation]
    relatives: Many[Relative]


class Section(Part):
    """The findings at a topic path."""

    findings: Many[Finding]


class Omission(Part):
    """What a text lacks of its source."""

    kind: str
    count: Count
    place: str


class Source(Part):
    """A text that an address gave."""

    number: Number
    url: str
    title: str = ""
    author: str = ""
    authors: Many[str] = ()
    doi: str = ""
    licence: str
    published_at: AwareDatetime | None = None
    snapshot_hash: str | None
    left_out: Annotated[tuple[Omission, ...], Field(fail_fast=True)] | None = None
    cited_by: Many[Number]


class Reference(Part):
    """A fact that a sentence rests on, and the number of its finding."""

    fact_id: str
    number: Number | None


class Sentence(Part):
    """A sentence of an answer: what it rests on, the numbers of sources, and the model that found it supported."""

    facts: Many[Reference] = ()
    sources: Many[Number]
    verdict: Annotated[Verdict | None, Field(strict=False)] = None
    verdict_by: str = ""
    mark: str = ""


class AnswerSection(Part):
    """A section of the written answer."""

    sentences: Many[Sentence]


class Answer(Part):
    """The report that a writer run submitted."""

    sections: Many[AnswerSection]


class RunAnswer(Part):
    """What a run said itself."""

    sentences: Many[Sentence]


class Contradiction(Part):
    """Two findings, by their numbers."""

    number: Number
    other: Number


class Run(Part):
    """A run that worked on it."""

    run_id: str
    role: str
    model: str
    state: str
    spent_usd: float | None
    started_at: AwareDatetime | None
    finished_at: AwareDatetime | None


class Work(Part):
    """The runs that are listed."""

    runs: Many[Run]


class Report(Part):
    """A report of Chiron's in JSON."""

    format: Literal["chiron.report"]
    version: Annotated[int, Field(ge=2)]
    sections: Many[Section]
    asides: Many[Finding]
    sources: Many[Source]
    contradictions: Many[Contradiction]
    work: Work
    answer: Answer | None = None
    run_answers: Many[RunAnswer] = ()

    @property
    def findings(self) -> list[Finding]:
        """Findings and asides."""
        return [finding for section in self.sections for finding in section.findings] + list(self.asides)

    @property
    def sentences(self) -> list[Sentence]:
        """Those of all answers."""
        sections = self.answer.sections if self.answer else ()
        parts: tuple[AnswerSection | RunAnswer, ...] = (*sections, *self.run_answers)
        return [sentence for part in parts for sentence in part.sentences]


class Body(Part):
    """The statement that an annotation makes of a passage."""

    id: str
    value: str


class Annotation(Part):
    """A statement and the passage that bears it out."""

    id: str
    body: Body
    target: Target


class AnnotationPage(Part):
    """All annotations, on one page."""

    items: Many[Annotation]


class AnnotationCollection(Part):
    """The annotations of a crate."""

    total: Count
    first: AnnotationPage


class Metadata(Part):
    """The entities of a crate, as JSON-LD has them."""

    graph: Annotated[list[dict[str, Any]], FailFast()] = Field(alias="@graph")


def read_document(archive: Archive, name: str, kind: type[Document]) -> Document:
    """A JSON document of a crate. Raises CrateRefused with a sentence that says what is wrong with it."""
    if name not in archive.sizes:
        raise CrateRefused(f"It has no {name}, so it is no crate of `chiron report --format crate`.")
    content = read(archive, name, bytes_max=JSON_BYTES_MAX)
    if not is_readable(content):
        raise CrateRefused(f"{name} holds too many values to be read safely.")
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in details["loc"])
        raise CrateRefused(f"{name}: {one_line(f'{place}: ' * bool(place) + details['msg'])}.") from None


def moment(value: object) -> datetime | None:
    """A time as JSON-LD states it, or None where it is none."""
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
