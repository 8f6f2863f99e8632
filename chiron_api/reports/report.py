"""What a report says. Every statement in it is a stored fact, or is marked as none."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from chiron_api.reports.answer import RunAnswer, WrittenAnswer
from chiron_api.reports.charts import Chart
from chiron_workers.documents.omissions import LeftOut
from chiron_workers.runs.usage import RunUsage
from chiron_workers.states import (
    Decider,
    FactStatus,
    Ground,
    Relation,
    ReportKind,
    RunState,
    SourceKind,
    Verdict,
)

STANDS = Ground.STANDS  # looked up once, since each citation is compared with it


@dataclass(frozen=True, slots=True)
class Source:
    """A text that an address gave; `cited_by` are the numbers of the findings that rest on it.

    If unknown, title, author, DOI and licence are empty, and dates and `left_out` are None. `author` has the authors on one
    line.
    """

    number: int
    url: str
    title: str
    author: str
    authors: tuple[str, ...]
    doi: str
    licence: str
    published_at: datetime | None
    fetched_at: datetime | None
    snapshot_hash: str | None
    cited_by: tuple[int, ...]
    left_out: LeftOut = None

    @property
    def name(self) -> str:
        """The title, or the address where there is none."""
        return self.title or self.url


@dataclass(frozen=True, slots=True)
class Selection:
    """Where a quote stands in the kept text, `text[start:end]` in code points, and what stands right around it."""

    start: int
    end: int
    prefix: str
    suffix: str


# Neither this nor a finding is frozen: nobody changes one, and to freeze it takes most of the time in which it is made.
@dataclass(slots=True)
class Citation:
    """One assertion in favour of a finding: `source` is a number, `wording` is how it puts it if it differs.

    `source_score` is what its agent gave the source, `claimed_score`, within the band of `source_kind`. `context` stands around
    the quote in the source; `verdict` says whether both bear the statement out, found by
    `verdict_by`. `source_mark` says what became of the source since then: that it is gone, or no longer holds the quote.
    `observed_at` is when the source was read.
    `selection` is there for a verified quote in formats that ask for it.
    """

    source: int
    wording: str
    quote: str
    is_verified: bool
    source_score: float
    source_mark: str
    stored_at: datetime
    context: str = ""
    verdict: Verdict = Verdict.UNCHECKED
    verdict_reason: str = ""
    verdict_by: str = ""
    source_kind: SourceKind = SourceKind.UNKNOWN
    claimed_score: float | None = None
    observed_at: datetime | None = None
    ground: Ground = Ground.STANDS
    assertion_id: str = ""
    selection: Selection | None = None


@dataclass(frozen=True, slots=True)
class Relative:
    """How another finding stands to this one; `is_active` if this one supports or qualifies the other."""

    number: int
    relation: Relation
    is_active: bool


@dataclass(slots=True)
class Finding:
    """A stored fact with everything that speaks for it.

    `origins` counts the independent publishers among its sources and those of the facts that support it; `objections` are
    statements that an agent noted against it without storing them as facts. `valid_from` and `valid_until` are the years,
    months or days from and until which it is so, where its words say it. `superseded_by` is the id of the fact that its source
    says instead by now.
    """

    number: int
    fact_id: str
    subject_id: str
    topic_path: str
    content: str
    status: FactStatus
    confidence: float
    origins: int
    citations: tuple[Citation, ...]
    relatives: tuple[Relative, ...]
    objections: tuple[str, ...]
    validated_at: datetime
    valid_from: str | None = None
    valid_until: str | None = None
    superseded_by: str | None = None

    @property
    def is_verified(self) -> bool:
        """Whether words that stand in a source back it, as far as its sources still say them."""
        for citation in self.citations:  # noqa: SIM110  # `any` takes four times as long, and each finding is asked twice
            if citation.is_verified and not citation.ground.is_lost:
                return True
        return False


@dataclass(frozen=True, slots=True)
class Attempts:
    """What a run searched for and which pages it read, each once; `left_out` counts those beyond the most that are shown."""

    searches: tuple[str, ...]
    pages: tuple[str, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """What a run was asked, `number` in its batch, and what came of it; `run_answers` has its answer.

    `context` is the background that the user gave to its topic; only the first part of a question has it.
    `repeats` are findings that an earlier question shows, `known_findings` those of its findings that were known before.
    `hidden_facts` counts its facts that this report does not show. `attempts` are set where it has no finding, unless its journal
    was pruned.
    """

    number: int
    run_id: str
    topic: str
    state: RunState
    nothing_found: bool = False
    repeats: tuple[int, ...] = ()
    known_findings: tuple[int, ...] = ()
    hidden_facts: int = 0
    attempts: Attempts | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """The findings of one question, or at one topic path."""

    subject_id: str
    topic_path: str
    findings: tuple[Finding, ...]
    question: Question | None = None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two findings that cannot both be true, by their numbers."""

    number: int
    other: int
    decided_by: Decider
    reason: str


@dataclass(frozen=True, slots=True)
class NodeCoverage:
    """A node of the coverage map: `level` is how deep it stands, `facts` are its own, `facts_below` those under it."""

    node_id: str
    title: str
    level: int
    is_goal_critical: bool
    facts: int
    facts_below: int

    @property
    def is_missing(self) -> bool:
        """Whether nothing is known of it."""
        return not (self.facts or self.facts_below)


@dataclass(frozen=True, slots=True)
class SubjectPart:
    """A subject with its learning goal and coverage map, parents before what is below them.

    `unmapped_facts` belong to no node; `is_cut` where the map is too large to be shown whole.
    """

    subject_id: str
    title: str
    purpose: str
    depth: str
    nodes: tuple[NodeCoverage, ...]
    unmapped_facts: int
    is_cut: bool

    @property
    def missing(self) -> list[NodeCoverage]:
        """The nodes that nothing is known of, goal-critical ones first."""
        return sorted(
            (node for node in self.nodes if node.is_missing), key=lambda node: not node.is_goal_critical
        )


@dataclass(frozen=True, slots=True)
class ModelUse(RunUsage):
    """What the runs of one model used."""

    model: str
    runs: int


@dataclass(frozen=True, slots=True)
class RunLine(RunUsage):
    """A run, `number` in its batch; `facts` it stored first, others it `confirmed`, further ones it `cited`.

    `error` is empty unless it failed.
    """

    run_id: str
    topic: str
    role: str
    model: str
    state: RunState
    facts: int
    confirmed: int
    turns: int
    error: str
    started_at: datetime | None
    finished_at: datetime | None
    cited: int = 0
    nothing_found: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class Work(RunUsage):
    """What it took: sums over all runs, and the runs themselves, the failed ones first and 1,000 at most.

    `nothing_found` counts the runs that completed without a fact, `unrecorded_runs` those of which not all known facts that they
    met are recorded, since an earlier version played them.
    """

    facts: int
    confirmed: int
    runs_by_state: dict[RunState, int]
    models: tuple[ModelUse, ...]
    started_at: datetime | None
    finished_at: datetime | None
    runs: tuple[RunLine, ...]
    cited: int = 0
    nothing_found: int = 0
    unrecorded_runs: int = 0

    @property
    def run_count(self) -> int:
        """All runs, also those that are not listed."""
        return sum(self.runs_by_state.values())


@dataclass(frozen=True, slots=True)
class TableCell:
    """A value as readers have it and the numbers of its findings; `mark` says what to know before relying on it."""

    text: str
    findings: tuple[int, ...] = ()
    mark: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row that a run returned; `number` is that of its question in the batch."""

    run_id: str
    number: int
    cells: tuple[TableCell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows that the runs returned; `has_more_rows` where they are cut, `columns_left_out` counts further columns."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]
    has_more_rows: bool = False
    columns_left_out: int = 0

    @property
    def empty_cells(self) -> int:
        """How many cells have no value."""
        return sum(not cell.text for row in self.rows for cell in row.cells)


@dataclass(frozen=True, slots=True)
class Report:
    """A run, a batch or a subject, as of `made_at`.

    Findings are numbered from 1 through all sections. `asides` go on with the numbers: facts that are no findings of
    this report (candidates, or found elsewhere), shown since they are linked to one. `left_out` counts the accepted facts
    beyond the most that a report holds. `agent_words` is what the agent of a run said itself: unchecked.
    `answer` is what a run of the writer composed from the findings, `run_answers` what the runs said themselves; `table` has the
    rows that the runs returned, and `charts` are made of these rows and of facts. The sections of a batch or a run are its
    questions, and `questions_left_out` counts those beyond the most that a report holds; those of a subject are topic paths.
    """

    kind: ReportKind
    id: str
    title: str
    made_at: datetime
    subjects: tuple[SubjectPart, ...]
    sections: tuple[Section, ...]
    asides: tuple[Finding, ...]
    sources: tuple[Source, ...]
    contradictions: tuple[Contradiction, ...]
    counts: dict[FactStatus, int]
    with_candidates: bool
    left_out: int
    work: Work
    agent_words: str
    answer: WrittenAnswer | None
    run_answers: tuple[RunAnswer, ...]
    questions_left_out: int = 0
    charts: tuple[Chart, ...] = ()
    table: Table | None = None

    @property
    def findings(self) -> Iterator[Finding]:
        """All findings in the order of their numbers."""
        return (finding for section in self.sections for finding in section.findings)

    def by_number(self) -> dict[int, Finding]:
        """Findings and asides by their numbers."""
        return {finding.number: finding for part in (self.findings, self.asides) for finding in part}
