"""The facts that a run met: matched with its answer, and recorded for runs of earlier versions."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.parameters import array
from chiron_workers.db.queries import load
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.duty_failures import isolated
from chiron_workers.evidence.citations import read_answer
from chiron_workers.evidence.cited_facts import SourcedFact, cited_facts
from chiron_workers.knowledge.report_rows import address
from chiron_workers.runs.citations import CITATIONS_SQL
from chiron_workers.states import Duty, Meeting

SQL = load(__file__, CITATIONS_SQL)
FACTS_MAX = 2_000  # of a run that are compared with its answer
RUNS_AT_ONCE = 100
RESULTS_AT_ONCE = 50
NO_RESULT = {"after_n": -1, "after_call_id": ""}


async def find_cited(pool: Pool, run_id: UUID, answer: str) -> frozenset[str]:
    """The facts that the answer of a run cites, of those that it met. Reads nothing where the answer names no source."""
    said_answer = await asyncio.to_thread(read_answer, answer)
    if not said_answer.has_citations:
        return frozenset()
    rows = await fetch_all(pool, SQL["met"], {"run_id": run_id, "limit": FACTS_MAX})
    if not rows:
        return frozenset()
    facts = [
        SourcedFact(row["fact_id"], row["content"], tuple(map(address, row["addresses"]))) for row in rows
    ]
    return await asyncio.to_thread(cited_facts, said_answer, facts, address=address)


async def record_earlier_runs(pool: Pool) -> int:
    """Record the facts of runs that earlier versions played. Returns the number of runs.

    Each run commits by itself. The migration recorded the rows of facts; this adds facts that searches returned, facts
    that were found again in the same source, and what answers cite.
    """
    count, count_before = 0, -1
    while count > count_before:  # ends: those that are left are another worker's, or rest after a failure
        count_before = count
        for row in await fetch_all(pool, SQL["unrecorded"], {"limit": RUNS_AT_ONCE}):
            async with isolated(pool.connection, Duty.FACT_RECORDS, row["id"], has_failed=row["has_failed"]):
                count += await _record_run(pool, row["id"])
    return count


async def _record_run(pool: Pool, run_id: UUID) -> bool:
    args: dict[str, Any] = {"run_id": run_id}
    async with pool.connection() as connection, connection.transaction():
        # Its rows commit before its mark, so a run that is retried in between is read again.
        run = await (await connection.execute(SQL["lock"], args)).fetchone()
        if run is None:
            return False
        if run["has_journal"]:
            await _record_results(connection, run_id)
    cited_ids = await find_cited(pool, run_id, run["answer"] or "")
    args |= {"cited_ids": ",".join(sorted(cited_ids)), "is_answered": True, "answer": run["answer"]}
    async with pool.connection() as connection:
        return (await connection.execute(SQL["record"], args)).rowcount > 0


async def _record_results(connection: AsyncConnection[DictRow], run_id: UUID) -> None:
    place = NO_RESULT
    while True:
        args = {"run_id": run_id, "limit": RESULTS_AT_ONCE} | place
        rows = await (await connection.execute(SQL["results"], args)).fetchall()
        for how, fact_ids in (await asyncio.to_thread(_meetings, rows)).items():
            args = {"run_id": run_id, "how": how, "fact_ids": array(sorted(fact_ids))}
            await connection.execute(SQL["add"], args)
        if len(rows) < RESULTS_AT_ONCE:
            return
        place = {"after_n": rows[-1]["n"], "after_call_id": rows[-1]["call_id"]}


def _meetings(rows: Sequence[Mapping[str, str]]) -> dict[Meeting, set[str]]:
    """The facts that results of tools tell of. One that was cut, or is of a tool of that name of the user's, tells nothing."""
    fact_ids: dict[Meeting, set[str]] = defaultdict(set)
    for row in rows:
        try:
            data = json.loads(row["text"])
        except ValueError:
            continue
        for how, fact_id in _facts_of(row["name"], data):
            if parsed_id := parse_id_or_none(str(fact_id)):
                fact_ids[how].add(str(parsed_id))
    return fact_ids


def _facts_of(tool: str, data: object) -> Iterator[tuple[Meeting, object]]:
    match tool, data:
        case "store_knowledge", {"status": "duplicate" | "joined", "fact_id": fact_id}:
            yield Meeting.CONFIRMED, fact_id
        case "vector_search", [*facts]:
            yield from (
                (Meeting.SEARCHED, fact["id"]) for fact in facts if isinstance(fact, dict) and "id" in fact
            )
        case "knowledge_base", {"facts": [*facts]}:
            yield from (
                (Meeting.SEARCHED, fact["id"]) for fact in facts if isinstance(fact, dict) and "id" in fact
            )
