"""A report a page at a time, however many findings it has."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import accumulate
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.reports.answer import RunAnswer
from chiron_api.reports.answering import written_answer
from chiron_api.reports.arranging import Arrangement, arrange, order_of_topic
from chiron_api.reports.gathering import (
    RUNS_MAX,
    answers_of,
    sources_of,
    subjects_of,
    table_and_charts,
    work_of,
)
from chiron_api.reports.material import read
from chiron_api.reports.question_pages import QuestionPages, lay_out_questions, read_first, read_page
from chiron_api.reports.questions import AskedQuestion
from chiron_api.reports.report import Report, Section, Work
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.drafts.reading import latest_draft
from chiron_workers.public_addresses import without_secrets
from chiron_workers.states import SHOWN_STATUSES, FactStatus, ReportKind

PAGE_FINDINGS = 30
RUN_ANSWERS_MAX = 3
TOPICS_MAX = 200  # questions that the contents list
SUMMARY_MAX = 100  # questions, topics and rows that the first page begins with
SUMMARY_FACTS = 500  # that are read for them and for charts
RUNS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a report, or a question: how many findings it has, and the page on which they begin."""

    subject_id: str
    topic_path: str
    findings: int
    page: int


@dataclass(frozen=True, slots=True)
class ReportPage:
    """Some findings of a report under the numbers that they have in the whole, with their sources and contradictions.

    A page of a batch or a run has whole questions with their answers. The first page of a subject has the written answer and,
    where it is the only one, what some of the runs answered. Sources are numbered a page at a time. `counts` say how many facts
    of the whole are disputed, and how many are candidates. Of `topic_count` questions `topics` has the first 200. `asides` of
    the report are findings of other pages too, since this page names them. The first page has a `beginning`: a report of the
    first questions or topics with the first facts of all, for the summary, the table and the charts.
    """

    report: Report
    number: int
    pages: int
    findings: int
    counts: Mapping[FactStatus, int]
    topics: tuple[Topic, ...]
    topic_count: int
    beginning: Report | None = None


async def gather_page(pool: Pool, scope: UUID | str, *, number: int, owner: str | None = None) -> ReportPage:
    """A page of the report on a run, a batch or a subject; the last one where there are fewer.

    Args:
        owner: As for the whole report.

    Raises:
        NotFound: There is nothing of that id or name.
    """
    target = await report_rows.find_target(pool, scope, owner=owner)
    draft = await latest_draft(pool, str(target.id), owner=target.owner) if number == 1 else None
    runs_max = RUNS_MAX if draft else RUNS_SHOWN if number == 1 else 0  # an answer says what all runs missed
    # Postgres sums up the runs while the whole is laid out.
    try:
        async with asyncio.TaskGroup() as group:
            work_task = group.create_task(work_of(pool, target, runs_max=runs_max))
            plan_task = group.create_task(_plan(pool, target))
    except BaseExceptionGroup as errors:  # the first says why the other was cancelled
        raise errors.exceptions[0] from None
    work, (plan, layout) = work_task.result(), plan_task.result()
    number = min(number, plan.pages)
    cited_ids = [
        fact_id
        for part in (draft.sections if draft else ())
        for sentence in part.sentences
        for fact_id in sentence.fact_ids
    ]
    questions = list[AskedQuestion]()
    if layout is None:
        page_ids, numbers = plan.facts_of(number), plan.numbers
    else:
        questions, numbers = await read_page(
            pool, target, layout, number, SHOWN_STATUSES, cited_ids=cited_ids
        )
        page_ids = [fact_id for question in questions for fact_id in question.new_ids]
    repeated_ids = [fact_id for question in questions for fact_id in question.repeated_ids]
    named_ids = [fact_id for fact_id in (*cited_ids, *repeated_ids) if fact_id in numbers]
    fact_ids = list(dict.fromkeys([*page_ids, *named_ids]))
    whole = await asyncio.to_thread(arrange, await read(pool, fact_ids), numbers, questions)
    is_answered = bool(questions) or plan.pages == 1
    answers = await answers_of(pool, target, whole, questions) if is_answered else ()
    if target.kind is ReportKind.SUBJECT:
        answers = answers[:RUN_ANSWERS_MAX]
    report = await _report(
        pool, target, whole, answers, work, counts=plan.counts, with_answer=draft is not None
    )
    beginning = await _beginning(pool, target, report, whole, plan, layout) if number == 1 else None
    return ReportPage(
        _cut(report, whole, frozenset(page_ids)),
        number,
        plan.pages,
        plan.findings,
        plan.counts,
        plan.topics,
        plan.topic_count,
        beginning,
    )


async def _beginning(
    pool: Pool,
    target: report_rows.Target,
    report: Report,
    whole: Arrangement,
    plan: "_Plan",
    layout: QuestionPages | None,
) -> Report:
    """The report with its first questions or topics, a table and charts; of a single page no fact is read again."""
    if plan.pages > 1:
        questions, numbers = list[AskedQuestion](), plan.numbers
        if layout is None:
            fact_ids = plan.first_facts()
        else:
            questions, numbers = await read_first(pool, target, layout, SHOWN_STATUSES, limit=SUMMARY_MAX)
            fact_ids = [fact_id for question in questions for fact_id in question.new_ids][:SUMMARY_FACTS]
        whole = await asyncio.to_thread(arrange, await read(pool, fact_ids), numbers, questions)
        answers = await answers_of(pool, target, whole, questions) if questions else ()
        sections, further_sections = whole.sections[:SUMMARY_MAX], whole.sections[SUMMARY_MAX:]
        further_findings = (finding for section in further_sections for finding in section.findings)
        report = replace(
            report, sections=sections, asides=(*whole.asides, *further_findings), run_answers=answers
        )
    table, charts = await table_and_charts(pool, target, whole, rows_max=SUMMARY_MAX)
    return replace(report, table=table, charts=charts)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The sums that each page shows. By topics, `fact_ids` has all findings in their order, and `numbers` their numbers."""

    pages: int
    findings: int
    counts: Mapping[FactStatus, int]
    topics: tuple[Topic, ...]
    topic_count: int
    fact_ids: Sequence[str] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)

    def facts_of(self, number: int) -> Sequence[str]:
        """The findings of a page, by their facts."""
        return self.fact_ids[(number - 1) * PAGE_FINDINGS : number * PAGE_FINDINGS]

    def first_facts(self) -> list[str]:
        """The surest fact of each of the first topics, then the first of all."""
        starts = accumulate((topic.findings for topic in self.topics[: SUMMARY_MAX - 1]), initial=0)
        surest_ids = [self.fact_ids[start] for start in starts if start < len(self.fact_ids)]
        return list(dict.fromkeys([*surest_ids, *self.fact_ids[:SUMMARY_FACTS]]))[:SUMMARY_FACTS]


async def _plan(pool: Pool, target: report_rows.Target) -> tuple[_Plan, QuestionPages | None]:
    layout = await lay_out_questions(pool, target, SHOWN_STATUSES, page_facts=PAGE_FINDINGS)
    if layout is None:
        return await _plan_topics(pool, target), None
    return await _plan_questions(pool, target, layout), layout


async def _plan_topics(pool: Pool, target: report_rows.Target) -> _Plan:
    rows = await report_rows.topics(pool, target)
    return await asyncio.to_thread(_lay_out, rows)  # of a hundred thousand topics that is work of a second


def _lay_out(rows: list[DictRow]) -> _Plan:
    rows.sort(key=lambda row: order_of_topic(row["subject_id"], row["topic_path"]))
    fact_ids = [fact_id for row in rows for fact_id in row["ids"]]
    counts = {
        FactStatus.DISPUTED: sum(row["disputed"] for row in rows),
        FactStatus.CANDIDATE: sum(row["candidates"] for row in rows),
    }
    topics = _topics(rows)
    return _Plan(
        pages=max(1, -(-len(fact_ids) // PAGE_FINDINGS)),
        findings=len(fact_ids),
        counts=counts,
        topics=tuple(topics),
        topic_count=len(topics),
        fact_ids=fact_ids,
        numbers={fact_id: n for n, fact_id in enumerate(fact_ids, start=1)},
    )


async def _plan_questions(pool: Pool, target: report_rows.Target, layout: QuestionPages) -> _Plan:
    rows = await report_rows.question_topics(pool, target, statuses=SHOWN_STATUSES, limit=TOPICS_MAX)
    topics = [
        Topic(row["subject_id"], f"#{row['number']} {without_secrets(row['topic'])}", row["facts"], page)
        for row, page in zip(rows, layout.first_pages(len(rows)), strict=False)
    ]
    counts = {FactStatus.DISPUTED: layout.disputed_facts, FactStatus.CANDIDATE: layout.candidate_facts}
    return _Plan(len(layout.pages), layout.facts, counts, tuple(topics), len(layout.sizes))


def _topics(rows: Sequence[DictRow]) -> list[Topic]:
    topics, before = list[Topic](), 0
    for row in rows:
        if not (count := len(row["ids"])):
            continue
        topics.append(Topic(row["subject_id"], row["topic_path"], count, before // PAGE_FINDINGS + 1))
        before += count
    return topics


async def _report(
    pool: Pool,
    target: report_rows.Target,
    whole: Arrangement,
    answers: tuple[RunAnswer, ...],
    work: Work,
    *,
    counts: Mapping[FactStatus, int],
    with_answer: bool,
) -> Report:
    subjects = await subjects_of(pool, target, whole)
    sources = await sources_of(pool, whole.places)
    return Report(
        kind=target.kind,
        id=str(target.id),
        title=without_secrets(target.title),
        made_at=datetime.now(UTC),
        subjects=subjects,
        sections=whole.sections,
        asides=whole.asides,
        sources=tuple(sources),
        contradictions=whole.contradictions,
        counts=dict.fromkeys(FactStatus, 0) | dict(counts),
        with_candidates=False,
        left_out=0,
        work=work,
        agent_words="",
        answer=await written_answer(pool, target, whole, subjects, work.runs) if with_answer else None,
        run_answers=answers,
    )


def _cut(report: Report, whole: Arrangement, page_ids: frozenset[str]) -> Report:
    """The report with only the findings of a page; what else was read joins the asides, so that it can be named."""
    sections = [
        Section(
            section.subject_id,
            section.topic_path,
            tuple(finding for finding in section.findings if finding.fact_id in page_ids),
            section.question,
        )
        for section in whole.sections
    ]
    findings = [
        finding
        for section in whole.sections
        for finding in section.findings
        if finding.fact_id not in page_ids
    ]
    shown_numbers = {finding.number for section in sections for finding in section.findings}
    return replace(
        report,
        sections=tuple(section for section in sections if section.findings or section.question),
        asides=(*whole.asides, *findings),
        contradictions=tuple(
            pair for pair in whole.contradictions if {pair.number, pair.other} & shown_numbers
        ),
    )
