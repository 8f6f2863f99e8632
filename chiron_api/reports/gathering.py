import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.reports.answer import RunAnswer
from chiron_api.reports.answering import answers_to, run_answers, written_answer
from chiron_api.reports.arranging import Arrangement, CitedSource, Place, arrange
from chiron_api.reports.charts import Chart
from chiron_api.reports.coverage import cover
from chiron_api.reports.fact_charts import charts_of_findings
from chiron_api.reports.material import Material, read
from chiron_api.reports.questions import QUESTIONS_MAX, AskedQuestion, read_questions
from chiron_api.reports.report import ModelUse, Report, RunLine, Source, SubjectPart, Table, Work
from chiron_api.reports.row_charts import charts_of
from chiron_api.reports.tables import table_of
from chiron_workers.batches.answers import columns_asked_for
from chiron_workers.db.connect import Pool
from chiron_workers.documents.authors import stored_names
from chiron_workers.documents.omissions import from_rows
from chiron_workers.evidence.dois import doi_of_source
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.knowledge.coverage.topic_titles import count_facts_by_path, load_aliases
from chiron_workers.knowledge.report_rows import Target
from chiron_workers.knowledge.rows.reading import AnswerRow, row_page
from chiron_workers.public_addresses import public_address, without_secrets
from chiron_workers.runs.columns import Column
from chiron_workers.runs.session import Session
from chiron_workers.runs.usage import RunUsage
from chiron_workers.states import HIDDEN_STATUSES, SHOWN_STATUSES, FactStatus, ReportKind, RunState

FINDINGS_MAX = 100_000
RUNS_MAX = 1_000
SOURCES_AT_ONCE = 500
WORK_NAMES = ("facts", "confirmed", "cited", "nothing_found", "unrecorded_runs", "started_at", "finished_at")
TABLE_ROWS = 200
USAGE_NAMES = tuple(field.name for field in fields(RunUsage))


async def gather(
    pool: Pool,
    scope: UUID | str,
    *,
    with_candidates: bool = False,
    with_selections: bool = False,
    owner: str | None = None,
) -> Report:
    """The report on a run or batch, by its id, or on a subject, by its name; 100,000 findings at most.

    It is read in short statements, so it can hold what was stored while it was read. Selections take reading the texts of all
    sources.

    Args:
        owner: Whose runs a report on a subject tells of; None: those of all. Its facts are those of all.

    Raises:
        NotFound: There is nothing of that id or name.
    """
    target = await report_rows.find_target(pool, scope, owner=owner)
    statuses = [*SHOWN_STATUSES, *(HIDDEN_STATUSES if with_candidates else ())]
    # Postgres sums up the runs while the facts are read.
    try:
        async with asyncio.TaskGroup() as group:
            counts_task = group.create_task(report_rows.counts(pool, target))
            work_task = group.create_task(work_of(pool, target))
            questions_task = group.create_task(read_questions(pool, target, statuses))
            facts_task = group.create_task(
                _read_facts(pool, target, statuses, with_selections=with_selections)
            )
    except BaseExceptionGroup as errors:  # the first says why the others were cancelled
        raise errors.exceptions[0] from None
    counts, work, material = counts_task.result(), work_task.result(), facts_task.result()
    questions = questions_task.result()
    # A second's work for a large report, and what else runs on this loop goes on.
    arrangement = await asyncio.to_thread(arrange, material, None, questions)
    subjects = await subjects_of(pool, target, arrangement)
    sources = await sources_of(pool, arrangement.places)
    table, charts = await table_and_charts(pool, target, arrangement)
    return Report(
        kind=target.kind,
        id=str(target.id),
        title=without_secrets(target.title),
        made_at=datetime.now(UTC),
        subjects=subjects,
        sections=arrangement.sections,
        asides=arrangement.asides,
        sources=tuple(sources),
        contradictions=arrangement.contradictions,
        counts=counts,
        with_candidates=with_candidates,
        left_out=max(0, sum(counts[status] for status in statuses) - FINDINGS_MAX),
        work=work,
        agent_words=without_secrets(await report_rows.answer(pool, target)),
        answer=await written_answer(pool, target, arrangement, subjects, work.runs),
        run_answers=await answers_of(pool, target, arrangement, questions),
        questions_left_out=max(0, work.run_count - QUESTIONS_MAX) if questions else 0,
        charts=charts,
        table=table,
    )


async def answers_of(
    pool: Pool, target: Target, arrangement: Arrangement, questions: Sequence[AskedQuestion]
) -> tuple[RunAnswer, ...]:
    """What the runs of a target answered: to its questions, or some of those of a subject."""
    if target.kind is ReportKind.SUBJECT:
        return await run_answers(pool, target, arrangement)
    return await answers_to(questions, arrangement)


async def table_and_charts(
    pool: Pool, target: Target, arrangement: Arrangement, *, rows_max: int = TABLE_ROWS
) -> tuple[Table | None, tuple[Chart, ...]]:
    """The first rows of a batch or a run as a table, and charts of their numbers and of those that findings state."""
    findings = [finding for section in arrangement.sections for finding in section.findings]
    numbers = {finding.fact_id: finding.number for finding in (*findings, *arrangement.asides)}
    columns, rows = await _handed_in_rows(pool, target, rows_max)
    questions = {
        section.question.run_id: section.question.number
        for section in arrangement.sections
        if section.question
    }
    table = table_of(columns, rows, numbers, questions, rows_max=rows_max)
    row_charts = charts_of(columns, rows[:rows_max], numbers)
    fact_charts = await asyncio.to_thread(charts_of_findings, findings, row_charts)
    return table, (*row_charts, *fact_charts)


async def _handed_in_rows(
    pool: Pool, target: Target, rows_max: int
) -> tuple[Sequence[Column], list[AnswerRow]]:
    if target.kind is ReportKind.SUBJECT:
        return (), []
    target_id = UUID(str(target.id))
    columns = await columns_asked_for(pool, target_id)
    rows = await row_page(pool, target_id, columns, after=None, limit=rows_max + 1) if columns else []
    return columns, rows


async def _read_facts(
    pool: Pool, target: Target, statuses: Sequence[FactStatus], *, with_selections: bool
) -> Material:
    fact_ids = await report_rows.fact_ids(pool, target, statuses=statuses, limit=FINDINGS_MAX)
    return await read(pool, fact_ids, with_selections=with_selections)


async def subjects_of(pool: Pool, target: Target, arrangement: Arrangement) -> tuple[SubjectPart, ...]:
    """The subject of the target first, then others that its runs found something about."""
    other_ids = {section.subject_id for section in arrangement.sections} - {target.subject_id}
    rows = await report_rows.subject_rows(pool, [target.subject_id, *other_ids])
    rows.sort(key=lambda row: (row["subject_id"] != target.subject_id, row["subject_id"]))
    return tuple([await subject_part(pool, row) for row in rows])


async def subject_part(pool: Pool, row: DictRow) -> SubjectPart:
    """The coverage map of a subject, from its row."""
    tops, is_cut = await Nodes(Session(pool)).tree(row["subject_id"])
    facts_by_path = (
        await count_facts_by_path(Session(pool), row["subject_id"], SHOWN_STATUSES) if tops else {}
    )
    aliases = await load_aliases(Session(pool), row["subject_id"])
    nodes, unmapped_facts = await asyncio.to_thread(cover, tops, facts_by_path, aliases)
    return SubjectPart(
        subject_id=row["subject_id"],
        title=row["title"],
        purpose=row["purpose_statement"] or "",
        depth=row["target_depth"],
        nodes=nodes,
        unmapped_facts=unmapped_facts,
        is_cut=is_cut,
    )


async def sources_of(pool: Pool, places: Mapping[Place, CitedSource]) -> list[Source]:
    """The sources that are cited, with what is known of them, by their numbers."""
    sources, cited_places = list[Source](), list(places)
    for start in range(0, len(cited_places), SOURCES_AT_ONCE):
        page = cited_places[start : start + SOURCES_AT_ONCE]
        rows = await report_rows.fetches(pool, page)
        sources += [_source(place, places[place], row) for place, row in zip(page, rows, strict=True)]
    return sources


def _source(place: Place, citations: CitedSource, row: DictRow) -> Source:
    url, snapshot_hash = place
    return Source(
        number=citations.number,
        url=public_address(url),
        snapshot_hash=snapshot_hash,
        cited_by=tuple(citations.by),
        title=without_secrets(row["title"]),
        authors=stored_names(row["author"]) if row["authors"] is None else tuple(row["authors"]),
        doi=doi_of_source(public_address(url), row["doi"]),
        left_out=from_rows(row["left_out"]),
        **{name: row[name] for name in ("author", "licence", "published_at", "fetched_at")},
    )


async def work_of(pool: Pool, target: Target, *, runs_max: int = RUNS_MAX) -> Work:
    """What it took, with some of the runs."""
    *models, total = await report_rows.uses(pool, target)
    states = await report_rows.counts_by_state(pool, target)
    return Work(
        **{name: total[name] for name in (*USAGE_NAMES, *WORK_NAMES)},
        runs_by_state={state: states[state] for state in RunState if state in states},
        models=tuple(
            ModelUse(**{name: row[name] for name in ("model", "runs", *USAGE_NAMES)}) for row in models
        ),
        runs=tuple(
            RunLine(**row | {"state": RunState(row["state"])} | _public_words(row))
            for row in await report_rows.runs(pool, target, limit=runs_max)
        ),
    )


def _public_words(row: DictRow) -> dict[str, str]:
    return {name: without_secrets(row[name]) for name in ("topic", "error")}
