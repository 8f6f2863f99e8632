"""The rows that reports and exports are made of, read in short statements, however many facts there are."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.cancellation import cancel_until_done
from chiron_workers.db.connect import Pool, fetch_all, fetch_many
from chiron_workers.db.parameters import array
from chiron_workers.db.pipelines import Statement, send
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound, ToolValidationError
from chiron_workers.knowledge.coverage.subjects import Subjects, slug
from chiron_workers.problems import SEE_BATCHES
from chiron_workers.runs.session import Session
from chiron_workers.runs.usage import USAGE_SQL
from chiron_workers.sources import sources
from chiron_workers.states import FactStatus, ReportKind

SQL = load(__file__, USAGE_SQL)
QUERIES = (USAGE_SQL, Path(__file__).with_suffix(".sql"))  # other modules' queries have parts of them
PAGE_FACTS = 1_000
PAGE_QUESTIONS = 250  # answers can be long
Page = TypeVar("Page")


@dataclass(frozen=True, slots=True)
class Target:
    """What a report or an export is about: `id` is a run's or batch's, or the slug of a subject."""

    kind: ReportKind
    id: UUID | str
    subject_id: str
    title: str
    owner: str | None = None  # whose runs count as those of a subject; None: those of all

    @property
    def args(self) -> dict[str, object]:
        """What selects its runs."""
        return {"id": self.id, "owner": self.owner}


@dataclass(frozen=True, slots=True)
class Rows:
    """Some facts, what is asserted in their favour, and how they stand to others, as the database has them."""

    facts: list[DictRow]
    assertions: list[DictRow]
    links: list[DictRow]


async def find_target(pool: Pool, target: UUID | str, *, owner: str | None = None) -> Target:
    """The run or batch of an id, or the subject of a name with the runs of an owner. Raises NotFound, saying what lists them."""
    if isinstance(target, UUID):
        rows = await fetch_all(pool, SQL["target"], {"id": target})
        if not rows:
            raise NotFound(f"No batch and no run has the id {target}.", remedies=(SEE_BATCHES,))
        return Target(ReportKind(rows[0]["kind"]), target, rows[0]["subject_id"], rows[0]["title"])
    subjects = await subject_rows(pool, [slug(target)])
    if not subjects:
        raise await Subjects(Session(pool)).unknown(target)
    return Target(ReportKind.SUBJECT, slug(target), slug(target), subjects[0]["title"], owner)


async def subject_rows(pool: Pool, subject_ids: Sequence[str]) -> list[DictRow]:
    """Subjects with their learning goals, by id: subject_id, title, purpose_statement, target_depth."""
    return await fetch_all(pool, SQL["subject"], {"subject_ids": list(subject_ids)})


async def fact_ids(
    pool: Pool, target: Target, *, statuses: Sequence[FactStatus], limit: int | None
) -> list[str]:
    """The newest facts of a target, newest first, all of them without a limit.

    Those of a run are what it stored, confirmed and cites.
    """
    name = "facts_of_a_subject" if target.kind is ReportKind.SUBJECT else "facts_of_runs"
    args = {"id": target.id, "statuses": list(statuses), "limit": limit}
    [row] = await fetch_all(pool, SQL[name], args)
    return list(row["ids"])


async def topics(pool: Pool, target: Target) -> list[DictRow]:
    """The facts of a target by topic: subject_id, topic_path, `ids` of those that are shown, the surest first and those that are
    disputed last, and how many are `disputed` and `candidates`.
    """
    name = "facts_in_a_subject" if target.kind is ReportKind.SUBJECT else "facts_in_runs"
    return await fetch_many(pool, SQL["topics"].format(scope=SQL[name]), {"id": target.id})


async def counts(pool: Pool, target: Target) -> dict[FactStatus, int]:
    """How many facts of a target are in each status."""
    name = "counts_of_a_subject" if target.kind is ReportKind.SUBJECT else "counts_of_runs"
    counts = {row["status"]: row["facts"] for row in await fetch_all(pool, SQL[name], {"id": target.id})}
    return {status: counts.get(status, 0) for status in FactStatus}


def pages(pool: Pool, fact_ids: Sequence[str], *, ahead: int = 0) -> AsyncGenerator[Rows]:
    """The rows of facts in pages of at most 1,000, in the order of `fact_ids`; a fact that is gone by then is left out.

    No transaction stays open between two pages, so a slow reader holds up nobody.

    Args:
        ahead: How many pages are read while the reader is at one; leave early through `aclosing`.
    """
    return in_pages(partial(_page, pool), fact_ids, ahead=ahead)


async def in_pages(
    read_page: Callable[[Sequence[str]], Coroutine[Any, Any, Page]], fact_ids: Sequence[str], *, ahead: int
) -> AsyncGenerator[Page]:
    """What `read_page` gives for some facts at a time, as `pages` says."""
    tasks = deque[asyncio.Task[Page]]()
    try:
        for start in range(0, len(fact_ids), PAGE_FACTS):
            tasks.append(asyncio.create_task(read_page(fact_ids[start : start + PAGE_FACTS])))
            if len(tasks) > ahead:
                yield await tasks.popleft()
        while tasks:
            yield await tasks.popleft()
    finally:
        await cancel_until_done(tasks)
        await asyncio.gather(*tasks, return_exceptions=True)


async def _page(pool: Pool, fact_ids: Sequence[str]) -> Rows:
    args = {"fact_ids": array(fact_ids)}
    statements = [Statement(SQL[name], args) for name in ("facts", "assertions", "links")]
    async with pool.connection() as connection:
        facts, assertions, links = await send(connection, statements)
    for row in facts:
        row["contradictions"] = row["contradictions"] or []  # most have none, and nothing is decoded
    facts_by_id = {row["id"]: row for row in facts}
    return Rows(
        [facts_by_id[fact_id] for fact_id in fact_ids if fact_id in facts_by_id],
        [_with_kind(row) if row["source_kind"] is None else row for row in assertions],
        links,
    )


def _with_kind(assertion: DictRow) -> DictRow:
    # It reads tables of addresses, and is needed only where an earlier version stored the assertion without a kind.
    from chiron_workers.knowledge.facts.source_kinds import with_kind

    return with_kind(assertion)


async def fetches(pool: Pool, places: Sequence[tuple[str, str | None]]) -> list[DictRow]:
    """For each (address, hash of its text) what is known of that page; None or empty for one that was never fetched."""
    args = {"urls": [address(url) for url, _ in places], "hashes": [digest for _, digest in places]}
    return await fetch_all(pool, SQL["fetches"], args)


def address(source_url: str) -> str:
    """The address under which a fact's source was kept; one that is too long to be kept stays as it is."""
    try:
        return sources.address(source_url)
    except ToolValidationError:
        return source_url


async def uses(pool: Pool, target: Target) -> list[DictRow]:
    """What the runs of a target used: runs, money, tokens and times, a row for each model, and one for all of them last."""
    return await fetch_all(pool, SQL["uses"].format(scope=SQL[f"of_a_{target.kind}"]), target.args)


async def counts_by_state(pool: Pool, target: Target) -> dict[str, int]:
    """How many runs of a target are in each state, of those that any is in."""
    rows = await fetch_all(pool, SQL["states"].format(scope=SQL[f"of_a_{target.kind}"]), target.args)
    return {row["state"]: row["runs"] for row in rows}


async def runs(pool: Pool, target: Target, *, limit: int) -> list[DictRow]:
    """The runs of a target, those that failed first."""
    query = SQL["runs"].format(scope=SQL[f"of_a_{target.kind}"])
    return await fetch_all(pool, query, target.args | {"limit": limit})


async def answers(pool: Pool, target: Target, *, limit: int) -> list[DictRow]:
    """What the agents of runs that were to find something said at their end, those that stored most first."""
    query = SQL["answers"].format(scope=SQL[f"of_a_{target.kind}"])
    return await fetch_all(pool, query, target.args | {"limit": limit})


async def questions(
    pool: Pool, target: Target, *, statuses: Sequence[FactStatus], limit: int
) -> AsyncGenerator[list[DictRow]]:
    """The runs of a batch, or a run, in the order in which they were asked, with their facts of some statuses; in pages."""
    query = SQL["questions"].format(scope=SQL[f"of_a_{target.kind}"])
    args = target.args | {"statuses": list(statuses), "after": UUID(int=0)}
    while limit > 0:
        page = await fetch_all(pool, query, args | {"limit": min(limit, PAGE_QUESTIONS)})
        if page:
            yield page
        if len(page) < PAGE_QUESTIONS:
            return
        limit -= len(page)
        args["after"] = page[-1]["run_id"]


async def question_sizes(
    pool: Pool, target: Target, *, statuses: Sequence[FactStatus], limit: int
) -> DictRow:
    """`sizes`: of each question of a batch or a run how many facts it is the first to have; None where nothing was asked.

    `disputed` and `candidates` count facts of all of them.
    """
    [row] = await _of_questions(pool, target, "question_sizes", statuses=list(statuses), limit=limit)
    return row


async def questions_from(
    pool: Pool, target: Target, *, place: int, statuses: Sequence[FactStatus], limit: int
) -> list[DictRow]:
    """As `questions`, some in their order from `place` on, where the first is 0."""
    before = await _of_questions(pool, target, "question_before", place=place) if place else []
    after = before[0]["id"] if before else UUID(int=0)
    return await _of_questions(pool, target, "questions", statuses=list(statuses), after=after, limit=limit)


async def questions_of_runs(
    pool: Pool, run_ids: Sequence[str], *, statuses: Sequence[FactStatus]
) -> list[DictRow]:
    """As `questions`, those of some runs."""
    args = {
        "run_ids": array(run_ids),
        "statuses": list(statuses),
        "after": UUID(int=0),
        "limit": len(run_ids),
    }
    return await fetch_all(pool, SQL["questions"].format(scope=SQL["of_runs"]), args)


async def first_questions(pool: Pool, target: Target, fact_ids: Sequence[str]) -> dict[str, str]:
    """By facts the run, of those of a target, whose question is the first to have each."""
    rows = await _of_questions(pool, target, "first_questions", fact_ids=array(fact_ids))
    return {row["fact_id"]: row["run_id"] for row in rows}


async def question_places(
    pool: Pool, target: Target, run_ids: Sequence[str], *, limit: int
) -> dict[str, int]:
    """At which place the questions of runs stand, of the first so many of a target."""
    rows = await _of_questions(pool, target, "question_places", run_ids=list(run_ids), limit=limit)
    return {row["run_id"]: row["place"] for row in rows}


async def question_topics(
    pool: Pool, target: Target, *, statuses: Sequence[FactStatus], limit: int
) -> list[DictRow]:
    """The first questions: number, subject_id, topic, and how many `facts` each has."""
    return await _of_questions(pool, target, "question_topics", statuses=list(statuses), limit=limit)


async def _of_questions(pool: Pool, target: Target, name: str, **args: object) -> list[DictRow]:
    return await fetch_all(pool, SQL[name].format(scope=SQL[f"of_a_{target.kind}"]), target.args | args)


async def attempts(pool: Pool, run_ids: Sequence[str], *, limit: int) -> list[DictRow]:
    """The first calls by which runs searched and read pages: run_id, name of the tool, words."""
    rows: list[DictRow] = []
    for start in range(0, len(run_ids), PAGE_QUESTIONS):
        args = {"run_ids": list(run_ids[start : start + PAGE_QUESTIONS]), "limit": limit}
        rows += await fetch_all(pool, SQL["attempts"], args)
    return rows


async def statuses(pool: Pool, fact_ids: Sequence[str]) -> dict[str, FactStatus]:
    """The state of each fact that is there."""
    rows = await fetch_all(pool, SQL["statuses"], {"fact_ids": list(fact_ids)})
    return {row["fact_id"]: FactStatus(row["status"]) for row in rows}


async def answer(pool: Pool, target: Target) -> str:
    """What the agent of a run said at its end; empty before, and for a batch or a subject."""
    if target.kind is not ReportKind.RUN:
        return ""
    rows = await fetch_all(pool, SQL["answer"], {"id": target.id})
    return rows[0]["answer"] or "" if rows else ""
