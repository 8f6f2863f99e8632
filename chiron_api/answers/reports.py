"""A report in the format `json`, version 2: every statement in it is a stored fact, or is marked as none."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from chiron_api.answers.basics import Answer, RunState, Usage
from chiron_api.answers.facts import FactStatus, Ground, Omission, SourceKind, Verdict


class ReportSource(Answer):
    """A text that an address gave; `cited_by` are the numbers of the findings that rest on it, `link` is safe to follow.

    `author` has the `authors` on one line. `doi` is the one that the source states, else the one that its address names.
    `left_out` is what the text lacks of its source; None where nobody knows.
    """

    number: int
    url: str
    title: str
    author: str
    authors: list[str]
    doi: str
    licence: str
    published_at: datetime | None
    fetched_at: datetime | None
    snapshot_hash: str | None
    cited_by: list[int]
    left_out: list[Omission] | None = None
    link: str | None


class Citation(Answer):
    """One assertion in favour of a finding: `source` is a number, `target` a selector of the Web Annotation Data Model."""

    source: int
    wording: str
    quote: str
    is_verified: bool
    source_score: float
    source_mark: str
    stored_at: datetime
    context: str
    verdict: Verdict
    verdict_reason: str
    verdict_by: str
    source_kind: SourceKind
    claimed_score: float | None
    observed_at: datetime | None
    ground: Ground
    assertion_id: str
    target: dict[str, Any] | None


class Relative(Answer):
    """How another finding stands to this one; `is_active` if this one supports or qualifies the other."""

    number: int
    relation: Literal["same", "supports", "contradicts", "qualifies", "new"]
    is_active: bool


class Finding(Answer):
    """A stored fact with what speaks for it; `origins` counts the independent publishers among its sources."""

    number: int
    fact_id: UUID
    subject_id: str
    topic_path: str
    content: str
    status: FactStatus
    confidence: float
    origins: int
    citations: list[Citation]
    relatives: list[Relative]
    objections: list[str]
    validated_at: datetime
    valid_from: str | None
    valid_until: str | None
    superseded_by: UUID | None
    is_verified: bool


class Attempts(Answer):
    """What a run searched for and which pages it read, each once; `left_out` counts further ones."""

    searches: list[str]
    pages: list[str]
    left_out: int


class ReportQuestion(Answer):
    """What a run was asked, `number` in its batch; its answer is that of its run among the `run_answers`.

    `context` is the background that the user gave to its topic.
    `repeats` are findings that an earlier question shows, `known_findings` those of its findings that were known before, and
    `hidden_facts` counts its facts that the report does not show. `attempts` are set where it has no finding, unless its journal
    was pruned. `nothing_found` is true where the run completed without a fact.
    """

    number: int
    run_id: UUID
    topic: str
    state: RunState
    nothing_found: bool
    repeats: list[int]
    known_findings: list[int]
    hidden_facts: int
    attempts: Attempts | None
    context: str | None


class ReportSection(Answer):
    """The findings of one question, whose `topic_path` is empty; in a report on a subject those at one topic path."""

    subject_id: str
    topic_path: str
    question: ReportQuestion | None
    findings: list[Finding]


class ReportContradiction(Answer):
    """Two findings that cannot both be true, by their numbers."""

    number: int
    other: int
    decided_by: Literal["rules", "model", "agent"]
    reason: str


class NodeCoverage(Answer):
    """A node of the coverage map: `level` is how deep it stands, `facts` are its own, `facts_below` those under it."""

    node_id: str
    title: str
    level: int
    is_goal_critical: bool
    facts: int
    facts_below: int


class SubjectPart(Answer):
    """A subject with its coverage map; `missing` are the nodes that nothing is known of, goal-critical ones first."""

    subject_id: str
    title: str
    purpose: str
    depth: str
    nodes: list[NodeCoverage]
    unmapped_facts: int
    is_cut: bool
    missing: list[str]


class ModelUse(Usage):
    """What the runs of one model used."""

    model: str
    runs: int


class RunLine(Usage):
    """A run of a report, `number` in its batch; `error` is empty unless it failed.

    `nothing_found` is true where it completed without a fact.
    """

    run_id: UUID
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
    cited: int
    nothing_found: bool
    number: int


class Work(Usage):
    """What it took: sums over all runs, and the runs themselves, the failed ones first and 1,000 at most.

    `unrecorded_runs` counts those of which not all known facts that they met are recorded.
    """

    facts: int
    confirmed: int
    runs_by_state: dict[RunState, int]
    models: list[ModelUse]
    started_at: datetime | None
    finished_at: datetime | None
    runs: list[RunLine]
    cited: int
    nothing_found: int
    unrecorded_runs: int


class Reference(Answer):
    """A fact that a sentence rests on; `mark` says what became of it since the sentence was written."""

    fact_id: str
    number: int | None
    mark: str


class WrittenSentence(Answer):
    """A sentence with its facts; `sources` are numbers.

    `verdict` is `supported` if the model `verdict_by` found that they support it, else `unchecked`; `mark` says so.
    """

    text: str
    facts: list[Reference]
    sources: list[int]
    is_disputed: bool
    verdict_by: str
    verdict: Verdict
    mark: str


class WrittenSection(Answer):
    """A section of the written answer; the first is the summary. `title_mark` says that no model has judged its title."""

    title: str
    sentences: list[WrittenSentence]
    title_mark: str


class WrittenAnswer(Answer):
    """What a run of the writer handed in; `not_known` is made of rows, not of words of a model."""

    run_id: UUID
    model: str
    written_at: datetime
    sections: list[WrittenSection]
    not_known: list[str]


class SaidSentence(Answer):
    """A sentence of a run's own answer; `sources` are the numbers of those whose address it names.

    `addresses` are the others that it names, on which no fact of the report rests.
    """

    text: str
    sources: list[int]
    addresses: list[str]


class RunAnswer(Answer):
    """What the agent of a run answered in its own words; they were not checked."""

    run_id: UUID
    topic: str
    sentences: list[SaidSentence]
    sentences_left_out: int


class ChartPoint(Answer):
    """A value under its label; `finding` is the number of the finding that says it, `note` how it was calculated."""

    label: str
    value: float
    finding: int | None
    note: str


class Chart(Answer):
    """Values of one column of rows, or of facts in the same words; `left_out` counts those beyond the most that a chart shows."""

    title: str
    axis: str
    points: list[ChartPoint]
    left_out: int


class TableCell(Answer):
    """A value as text with the numbers of its findings; `mark` says what to know before relying on it."""

    text: str
    findings: list[int]
    mark: str


class TableRow(Answer):
    """A row that a run returned; `number` is that of its question in the batch."""

    run_id: UUID
    number: int
    cells: list[TableCell]


class Table(Answer):
    """The first rows that the runs returned; `columns_left_out` counts further columns."""

    columns: list[str]
    rows: list[TableRow]
    has_more_rows: bool
    columns_left_out: int


class SummaryLine(Answer):
    """A question or a topic, the first sentence of its answer and how many facts it has; `section` counts from 1."""

    title: str
    answer: str
    facts: int
    section: int


class Report(Answer):
    """What a run, a batch or a subject has, as of `made_at`; findings are numbered from 1 through all sections.

    The sections of a batch or a run are its questions, in the order in which they were asked.

    `asides` go on with the numbers: facts that are no findings of this report and are linked to one. `left_out` counts the
    accepted facts beyond the most that a report holds.
    """

    format: Literal["chiron.report"]
    version: int
    kind: Literal["run", "batch", "subject"]
    id: str
    title: str
    made_at: datetime
    with_candidates: bool
    counts: dict[FactStatus, int]
    left_out: int
    subjects: list[SubjectPart]
    contradictions: list[ReportContradiction]
    work: Work
    unchecked_agent_words: str
    answer: WrittenAnswer | None
    run_answers: list[RunAnswer]
    questions_left_out: int
    charts: list[Chart]
    table: Table | None
    lead: str
    summary: list[SummaryLine]
    sections: list[ReportSection]
    asides: list[Finding]
    sources: list[ReportSource]
