"""How a report puts things, the same in every format. Plain text: each renderer escapes it in its own way."""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from chiron_api.reports.report import (
    STANDS,
    Citation,
    Contradiction,
    Finding,
    ModelUse,
    NodeCoverage,
    Question,
    Relative,
    Report,
    RunLine,
    Section,
    Source,
    SubjectPart,
)
from chiron_api.text import (
    cost_of,
    count,
    facts_phrase,
    services_phrase,
    tokens,
    tokens_by_name,
    usd,
    validity,
    verdict_and_judge,
)
from chiron_workers.documents.omissions import describe
from chiron_workers.states import (
    HIDDEN_STATUSES,
    Decider,
    FactStatus,
    Ground,
    Relation,
    ReportKind,
    RunState,
    Verdict,
)

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
# Controls, what turns the direction of writing for all that follows, halves of surrogate pairs, and what XML refuses.
UNPRINTABLE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

ORIGIN_NOTE = (
    "Every finding is a fact in the database with the source it rests on; no model wrote the findings. "
    "A number in brackets is a source in the list of sources."
)
FINDINGS_HEADING, QUESTIONS_HEADING = "Findings", "Questions"
ANSWERS_NOTE = (
    "Answers are the agents' own words and were not checked; a number in brackets is a source that the sentence names. "
    "The findings below each answer are stored facts with their sources."
)
ANSWERS_IN_SHORT = "Answers are in the researcher's own words. The facts below each are what was checked against the sources."
RECORD_GAPS = {
    True: "met known facts that are not all recorded; its findings may be incomplete.",
    False: "met known facts that are not all recorded; their findings may be incomplete.",
}
REPEATS_WORDS = "Shown above: "
SAME_WORDS = "In these very words."
NO_FINDINGS = "Nothing has been stored yet that is sure enough to be shown."
ASIDE = (
    "Facts that are linked to a finding but are no findings of this report: candidates that are not sure enough, or "
    "facts that were found elsewhere."
)
BOTH_STAY = "Both sides stay until a source settles it."
MODEL_COLUMNS = ("Model", "Runs", "Cost", "Fresh", "Cache read", "Cache write", "Out")
CITED_BY_MAX = 100
NO_RUN = "No run has worked on this."
NO_MAP = "There is no coverage map: nobody has said yet what belongs to this subject."
DECIDERS = {
    Decider.RULES: "Told by rule",
    Decider.MODEL: "Judged by the model",
    Decider.AGENT: "Said by the agent",
}
GOOD_VERDICTS = (Verdict.SUPPORTED, Verdict.UNCHECKED, Verdict.PARTLY)  # the best first
DOUBTFUL = frozenset({FactStatus.CANDIDATE, FactStatus.DISPUTED})
RELATIONS = {
    (Relation.SUPPORTS, True): "Supports",
    (Relation.SUPPORTS, False): "Supported by",
    (Relation.QUALIFIES, True): "Qualifies",
    (Relation.QUALIFIES, False): "Qualified by",
    (Relation.CONTRADICTS, True): "Contradicted by",
    (Relation.CONTRADICTS, False): "Contradicted by",
}


def one_line(text: str) -> str:
    """A text on one line, without what a screen would obey."""
    if not text.isprintable():
        text = UNPRINTABLE.sub("", text)
    elif "  " not in text and not text.startswith(" ") and not text.endswith(" "):  # most texts
        return text
    return " ".join(text.split())


def paragraphs(text: str) -> list[str]:
    """The lines of a text that are not empty, each as `shown`."""
    return [line for line in map(one_line, text.splitlines()) if line]


def day(at: datetime | None) -> str:
    """A date, or nothing where there is none."""
    return f"{at:%Y-%m-%d}" if at else ""


def minute(at: datetime) -> str:
    """A time in UTC, to the minute."""
    return f"{at:%Y-%m-%d %H:%M} UTC"


def heading(report: Report) -> str:
    """What the report is called."""
    return one_line(report.title) or f"{report.kind.capitalize()} {report.id}"


def origin_line(report: Report) -> str:
    """What the report is about, and as of when."""
    name = report.id if report.kind != ReportKind.SUBJECT else report.subjects[0].subject_id
    return f"Report on the {report.kind} {name} as of {minute(report.made_at)}."


def no_findings(report: Report) -> str:
    """That there is nothing to show, how many facts are left out, and where they are."""
    sentences = [NO_FINDINGS]
    if hidden_facts := sum(report.counts.get(status, 0) for status in HIDDEN_STATUSES):
        sentences.append(
            f"{count(hidden_facts, 'fact is', 'facts are')} left out, not sure enough or superseded: a report with candidates "
            "shows them."
        )
    return " ".join(sentences)


def summary(report: Report) -> Iterator[tuple[str, str]]:
    """The report in numbers, as (name, value)."""
    findings = list(report.findings)
    unverified_findings = sum(
        not finding.is_verified and finding.status is not FactStatus.SUPERSEDED for finding in findings
    )
    yield (
        "Findings",
        f"{len(findings):,}"
        + (f", {unverified_findings:,} of them not verified" if unverified_findings else ""),
    )
    yield "Sources", f"{len(report.sources):,}"
    yield "Contradictions", f"{len(report.contradictions):,}"
    yield from _not_shown(report)
    if report.work.run_count:
        states = ", ".join(f"{runs:,} {state}" for state, runs in report.work.runs_by_state.items())
        yield "Runs", states
        if report.work.nothing_found:
            yield "Nothing found", f"by {count(report.work.nothing_found, 'completed run')}"
        yield "Facts", facts_phrase(report.work.facts, report.work.confirmed, report.work.cited)
        yield "Cost", cost(report)
        if services := services_phrase(report.work):
            yield "Embeddings and searches", services
        yield "Tokens", tokens(report.work)
    if report.work.started_at:
        until = f" to {minute(report.work.finished_at)}" if report.work.finished_at else ""
        yield "Researched", f"{minute(report.work.started_at)}{until}"


def cost(report: Report) -> str:
    """What the runs cost; calls whose reply was lost may have been billed too."""
    work = report.work
    if not work.unconfirmed_calls:
        return cost_of(work)
    unconfirmed = "an unknown amount" if work.unconfirmed_usd is None else usd(work.unconfirmed_usd)
    return f"{cost_of(work)}, up to {unconfirmed} more unconfirmed"


def _not_shown(report: Report) -> Iterator[tuple[str, str]]:
    candidates = report.counts[FactStatus.CANDIDATE]
    if candidates:
        where = "shown and marked" if report.with_candidates else "not sure enough, left out"
        yield "Candidates", f"{candidates:,}, {where}"
    if superseded_facts := report.counts[FactStatus.SUPERSEDED]:
        where = "shown and marked" if report.with_candidates else "left out"
        yield "Superseded", f"{superseded_facts:,}, no source says so any more, {where}"
    if withdrawn_facts := report.counts[FactStatus.WITHDRAWN]:
        yield "Withdrawn", f"{withdrawn_facts:,}, not shown"
    if report.left_out:
        yield "Left out", f"{count(report.left_out, 'older fact')}: a report holds 100,000"


def findings_heading(report: Report) -> str:
    """The heading of the sections."""
    has_questions = any(section.question for section in report.sections)
    return QUESTIONS_HEADING if has_questions else FINDINGS_HEADING


def findings_notes(report: Report) -> list[str]:
    """Notes before the sections: the origin of the answers, the context that all questions share, gaps in the records."""
    return [*_question_notes(report), *record_notes(report)]


def client_notes(report: Report) -> list[str]:
    """Notes before the questions of a document: the origin of the answers, and the context that all questions share."""
    return _question_notes(report, ANSWERS_IN_SHORT)


def _question_notes(report: Report, answers_note: str = "") -> list[str]:
    has_answers = report.run_answers and findings_heading(report) == QUESTIONS_HEADING
    notes = [answers_note or ANSWERS_NOTE] if has_answers else []
    if context := shared_context(report):
        notes.append(f"Context of all questions: {one_line(context)}")
    return notes


def record_notes(report: Report) -> list[str]:
    """Notes on facts that are not recorded and questions that do not fit."""
    notes = []
    if report.work.unrecorded_runs and report.kind is not ReportKind.SUBJECT:
        notes.append(
            f"{count(report.work.unrecorded_runs, 'run')} of an earlier version {RECORD_GAPS[report.work.unrecorded_runs == 1]}"
        )
    if report.questions_left_out:
        notes.append(f"{count(report.questions_left_out, 'more question')} not shown: a report holds 10,000.")
    return notes


def numbered_topic(item: Question | RunLine, report: Report) -> str:
    """The topic of a run; in the report of a batch after its number, as commands write it."""
    number = f"#{item.number} " if report.kind is ReportKind.BATCH and item.number else ""
    return f"{number}{one_line(item.topic)}"


def shared_context(report: Report) -> str:
    """The context that several questions share; empty where they differ."""
    contexts = {section.question.context or "" for section in report.sections if section.question}
    return contexts.pop() if len(contexts) == 1 and len(report.sections) > 1 else ""


def question_contexts(report: Report) -> dict[str, str]:
    """The context of each question as a sentence, by the id of its run; empty where all share one."""
    if shared_context(report):
        return {}
    questions = (section.question for section in report.sections)
    return {
        question.run_id: f"Context: {one_line(question.context)}"
        for question in questions
        if question and question.context
    }


def titled_sections(report: Report) -> Iterator[tuple[str, Section]]:
    """The sections, each with its question or its path as title, and its subject where there are several."""
    subjects = {subject.subject_id: one_line(subject.title) for subject in report.subjects}
    for section in report.sections:
        if section.question:
            yield numbered_topic(section.question, report), section
            continue
        name = f"{subjects.get(section.subject_id, '')}: " if len(subjects) > 1 else ""
        yield name + path(section.topic_path), section


def confidence_line(finding: Finding, mark: str = "") -> str:
    """How sure a finding is, and why, with its marks."""
    return " · ".join([confidence_and_origins(finding), *marks(finding), *([mark] if mark else [])])


def confidence_and_origins(finding: Finding) -> str:
    """How sure a finding is, and how many say so independently."""
    return _sureness(
        finding.confidence, finding.origins, _verdict(finding), finding.valid_from, finding.valid_until
    )


@lru_cache(maxsize=1_024)  # many findings of a report are as sure, for the same reason
def _sureness(
    confidence: float, origins: int, verdict: str, valid_from: str | None, valid_until: str | None
) -> str:
    span = validity(valid_from, valid_until)
    parts = [f"confidence {confidence:.2f}", count(origins, "independent source"), verdict]
    return " · ".join([*parts, span] if span else parts)


def _verdict(finding: Finding) -> str:
    """The best verdict on a finding's quotes that still stand, or else on those that did, and whose it is."""
    standing_citations = [citation for citation in finding.citations if citation.ground is STANDS]
    for verdict in GOOD_VERDICTS:
        for citation in standing_citations or finding.citations:
            if citation.verdict is verdict:
                return verdict_and_judge(
                    verdict, citation.verdict_by, ground=citation.ground, observed_at=citation.observed_at
                )
    return "not supported by its quotes"


def marks(finding: Finding) -> list[str]:
    """What a reader must know before relying on a finding."""
    if finding.status is FactStatus.SUPERSEDED:
        return [f"superseded by fact {finding.superseded_by}" if finding.superseded_by else "superseded"]
    quote_marks = [] if finding.is_verified else ["not verified"]
    if any(citation.ground is Ground.CONTEXT_CHANGED for citation in finding.citations):
        quote_marks.append(str(Ground.CONTEXT_CHANGED))
    return quote_marks + ([str(finding.status)] if finding.status in DOUBTFUL else [])


def passage(citation: Citation, statement: str = "") -> str:
    """The words of the source in quotation marks, behind what stands around them in brackets; and what is wrong with them.

    Args:
        statement: The words right above; a source that has the same is not quoted once more.
    """
    mark = f" ({citation.source_mark})" if citation.source_mark else ""
    if citation.verdict_reason and citation.verdict.is_doubt:
        mark += f" ({citation.verdict_reason})"
    if not citation.quote:
        return f"No passage was given.{mark}"
    context = f"[{one_line(citation.context)}] " if citation.context else ""
    quote = one_line(citation.quote)
    is_repeated = _words(quote) == _words(one_line(citation.wording or statement))
    return (
        f"{context}{SAME_WORDS if is_repeated else f'“{quote}”'}"
        + ("" if citation.is_verified else " (not found in the source)")
        + mark
    )


def _words(line: str) -> str:
    return line.casefold().rstrip(".")


def relation(relative: Relative) -> str:
    """How the other finding stands to this one, as the beginning of a line."""
    return RELATIONS[relative.relation, relative.is_active]


def objection(text: str) -> str:
    """A statement that an agent noted against a finding."""
    return f"The agent noted against it, without a stored fact or source: “{one_line(text)}”"


def reason(contradiction: Contradiction) -> str:
    """Who says that two findings contradict each other, and why."""
    return f"{DECIDERS[contradiction.decided_by]}: {one_line(contradiction.reason)}"


def source_details(source: Source) -> list[str]:
    """What is known of a source beside its title and address."""
    fetched_on = f"fetched {minute(source.fetched_at)}" if source.fetched_at else "never fetched by Chiron"
    published_on = f"published {day(source.published_at)}" if source.published_at else ""
    left_out = describe(source.left_out)
    parts = (
        one_line(source.author),
        published_on,
        one_line(source.licence),
        fetched_on,
        f"left out of this source: {one_line(left_out)}" if left_out else "",
    )
    return [part for part in parts if part]


def cited_by(source: Source) -> tuple[tuple[int, ...], str]:
    """The numbers of the first 100 findings that rest on a source, and how many more do, as the end of a line."""
    omitted_findings = len(source.cited_by) - CITED_BY_MAX
    return source.cited_by[:CITED_BY_MAX], f" and {omitted_findings:,} more" if omitted_findings > 0 else ""


def model_cells(model: ModelUse) -> dict[str, str]:
    """What the runs of a model used, by column."""
    counts = (f"{count:,}" for count in tokens_by_name(model).values())
    cells = (one_line(model.model), f"{model.runs:,}", cost_of(model), *counts)
    return dict(zip(MODEL_COLUMNS, cells, strict=True))


def run_cells(report: Report, run: RunLine) -> dict[str, str]:
    """A run in a table, by column."""
    return {
        "Topic": numbered_topic(run, report),
        "State": run.state,
        "Facts": facts_phrase(run.facts, run.confirmed, run.cited),
        "Turns": f"{run.turns:,}",
        "Cost": cost_of(run),
        "Tokens": f"{sum(tokens_by_name(run).values()):,}",
    }


def node_facts(node: NodeCoverage) -> str:
    """How much is known of a node."""
    if node.is_missing:
        return "missing"
    below = f"{node.facts_below:,} below" if node.facts_below else ""
    of_node = count(node.facts, "fact") if node.facts or not below else ""
    return ", ".join(part for part in (of_node, below) if part)


def path(topic_path: str) -> str:
    """A topic path as people read it."""
    return " › ".join(one_line(step) for step in topic_path.split("/"))


def failed_runs(report: Report) -> list[RunLine]:
    """The runs that failed, of those that are listed."""
    return [run for run in report.work.runs if run.state == RunState.FAILED]


def runs_left_out(report: Report) -> str:
    """That a list of runs is cut, or nothing."""
    omitted_runs = report.work.run_count - len(report.work.runs)
    return (
        f"{count(omitted_runs, 'more run')} not listed here; the sums count all of them."
        if omitted_runs > 0
        else ""
    )


def map_notes(subject: SubjectPart) -> list[str]:
    """What a coverage map does not show."""
    unmapped_note = f"{count(subject.unmapped_facts, 'fact')} at paths that no node names."
    cut_note = "The map has more than 2,000 nodes; these are the first."
    return [unmapped_note] * bool(subject.unmapped_facts) + [cut_note] * subject.is_cut
