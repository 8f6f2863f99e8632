"""A report a page at a time, however many findings it has."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.reports.answering import run_answers, written_answer
from chiron_api.reports.arranging import Arrangement, arrange, order_of_topic
from chiron_api.reports.gathering import RUNS_MAX, numbers_by_address, sources_of, subjects_of, work_of
from chiron_api.reports.material import read
from chiron_api.reports.report import Report, Section
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.drafts.reading import latest_draft
from chiron_workers.public_addresses import without_secrets
from chiron_workers.states import FactStatus

PAGE_FINDINGS = 30
RUN_ANSWERS_MAX = 3


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a report: how many findings it has, and the page on which they begin."""

    subject_id: str
    topic_path: str
    findings: int
    page: int


@dataclass(frozen=True, slots=True)
class ReportPage:
    """Some findings of a report under the numbers that they have in the whole, with their sources and contradictions.

    The first page has the written answer and, where it is the only one, what some of the runs answered. Sources are numbered
    a page at a time. `counts` say how many facts of the whole are disputed, and how many are candidates. `asides` of the
    report are findings of other pages too, since this page names them.
    """

    report: Report
    number: int
    pages: int
    findings: int
    counts: Mapping[FactStatus, int]
    topics: tuple[Topic, ...]


async def gather_page(pool: Pool, scope: UUID | str, *, number: int, owner: str | None = None) -> ReportPage:
    """A page of the report on a run, a batch or a subject; the last one where there are fewer.

    Args:
        owner: As for the whole report.

    Raises:
        NotFound: There is nothing of that id or name.
    """
    target = await report_rows.find_target(pool, scope, owner=owner)
    rows = await report_rows.topics(pool, target)
    # Of a hundred thousand topics that is work of a second.
    layout = await asyncio.to_thread(_lay_out, rows)
    numbers, pages = layout.numbers, max(1, -(-len(layout.fact_ids) // PAGE_FINDINGS))
    number = min(number, pages)
    page_ids = layout.fact_ids[(number - 1) * PAGE_FINDINGS : number * PAGE_FINDINGS]
    draft = await latest_draft(pool, str(target.id), owner=target.owner) if number == 1 else None
    cited_ids = [
        fact_id
        for part in (draft.sections if draft else ())
        for sentence in part.sentences
        for fact_id in sentence.fact_ids
    ]
    wanted_ids = list(dict.fromkeys([*page_ids, *(key for key in cited_ids if key in numbers)]))
    whole = await asyncio.to_thread(arrange, await read(pool, wanted_ids), numbers)
    report = await _report(pool, target, whole, with_answer=draft is not None, is_whole=pages == 1)
    return ReportPage(
        _cut(report, whole, frozenset(page_ids)),
        number,
        pages,
        len(layout.fact_ids),
        layout.counts,
        layout.topics,
    )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where each finding of the whole stands: the ids of all in their order, and their numbers."""

    fact_ids: Sequence[str]
    numbers: Mapping[str, int]
    counts: Mapping[FactStatus, int]
    topics: tuple[Topic, ...]


def _lay_out(rows: list[DictRow]) -> _Layout:
    rows.sort(key=lambda row: order_of_topic(row["subject_id"], row["topic_path"]))
    fact_ids = [fact_id for row in rows for fact_id in row["ids"]]
    numbers = {fact_id: n for n, fact_id in enumerate(fact_ids, start=1)}
    counts = {
        FactStatus.DISPUTED: sum(row["disputed"] for row in rows),
        FactStatus.CANDIDATE: sum(row["candidates"] for row in rows),
    }
    return _Layout(fact_ids, numbers, counts, tuple(_topics(rows)))


def _topics(rows: Sequence[DictRow]) -> list[Topic]:
    topics, before = list[Topic](), 0
    for row in rows:
        if not (count := len(row["ids"])):
            continue
        topics.append(Topic(row["subject_id"], row["topic_path"], count, before // PAGE_FINDINGS + 1))
        before += count
    return topics


async def _report(
    pool: Pool, target: report_rows.Target, whole: Arrangement, *, with_answer: bool, is_whole: bool
) -> Report:
    """A report of what was arranged; runs are read for what is not known, which goes with an answer."""
    subjects = await subjects_of(pool, target, whole)
    work = await work_of(pool, target, runs_max=RUNS_MAX if with_answer else 0)
    sources = await sources_of(pool, whole.places)
    numbers = numbers_by_address(whole.places) if is_whole else {}
    answers = await run_answers(pool, target, numbers) if is_whole else ()
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
        counts={},
        with_candidates=False,
        left_out=0,
        work=work,
        agent_words="",
        answer=await written_answer(pool, target, whole, subjects, work.runs) if with_answer else None,
        run_answers=answers[:RUN_ANSWERS_MAX],
    )


def _cut(report: Report, whole: Arrangement, page_ids: frozenset[str]) -> Report:
    """The report with only the findings of a page; what else was read joins the asides, so that it can be named."""
    sections = [
        Section(
            section.subject_id,
            section.topic_path,
            tuple(finding for finding in section.findings if finding.fact_id in page_ids),
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
        sections=tuple(section for section in sections if section.findings),
        asides=(*whole.asides, *findings),
        contradictions=tuple(
            pair for pair in whole.contradictions if {pair.number, pair.other} & shown_numbers
        ),
    )
