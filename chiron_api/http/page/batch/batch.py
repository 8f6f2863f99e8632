"""A batch as the page shows it: its summary, a picture of its runs, a page of their table, rows, new facts, and its cost."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.http.page.answers import ANSWER_CHARS, first_sentences
from chiron_api.http.page.charts import CostChart, Stretch, cost_chart, stretches_of
from chiron_api.http.page.rows.table import RowTable
from chiron_api.http.page.rows.table import load as load_rows
from chiron_api.views.batches import cost_to_finish_of
from chiron_workers.batches.cost_to_finish import CostToFinish
from chiron_workers.batches.summaries import BatchSummary, summary
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load as load_queries
from chiron_workers.runs.usage import USAGE_SQL
from chiron_workers.states import RunState

SQL = load_queries(__file__, USAGE_SQL)
SQUARES_MAX = 400  # more runs are drawn as stretches
STRETCHES = 120
TIME_STRETCHES = 60
RUNS_PER_PAGE = 50
FACTS_MAX = 20
OTHERS_MAX = 50


class Order(StrEnum):
    """What the table of runs is sorted by."""

    TOPIC = "topic"
    FACTS = "facts"
    COST = "cost"
    TURNS = "turns"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which runs the table shows, in which order; pages count from 1."""

    state: RunState | None = None
    order: Order = Order.TOPIC
    page: int = 1
    nothing_found: bool = False  # only those that completed without a fact

    def query(self, **changes: object) -> str:
        """The selection as a query string, with changes."""
        fields = {
            "state": self.state,
            "nothing_found": "true" if self.nothing_found else None,
            "order": self.order,
            "page": self.page,
        } | changes
        return "&".join(
            f"{name}={value}" for name, value in fields.items() if value not in (None, "", 1, Order.TOPIC)
        )


@dataclass(frozen=True, slots=True)
class BatchView:
    """All that the page of a batch shows; of `squares` and `stretches` one is empty.

    `answers` has the first sentences of the answers of `runs`, by id; of a run without an answer nothing.
    """

    batch: BatchSummary
    total: int
    squares: list[DictRow]
    stretches: list[Stretch]
    runs: list[DictRow]
    answers: dict[UUID, str]
    selection: Selection
    has_more: bool
    facts: list[DictRow]
    table: RowTable | None
    chart: CostChart | None
    cost_to_finish: CostToFinish | None = None


async def load(pool: Pool, batch_id: UUID, selection: Selection) -> BatchView:
    """Read it. Raises NotFound."""
    batch = await summary(pool, batch_id)
    total = sum(batch.runs.values())
    args = {"batch_id": batch_id, "total": total, "stretches": STRETCHES, "limit": FACTS_MAX}
    has_squares = total <= SQUARES_MAX
    runs = await _runs(pool, batch_id, selection)
    return BatchView(
        batch,
        total,
        squares=await fetch_all(pool, SQL["squares"], args) if has_squares else [],
        stretches=[] if has_squares else stretches_of(await fetch_all(pool, SQL["density"], args)),
        runs=runs[:RUNS_PER_PAGE],
        answers=await _answers(pool, runs[:RUNS_PER_PAGE]),
        selection=selection,
        has_more=len(runs) > RUNS_PER_PAGE,
        facts=await fetch_all(pool, SQL["facts"], args),
        table=await load_rows(pool, batch_id, path=f"/batches/{batch_id}"),
        chart=await _chart(pool, batch),
        cost_to_finish=await cost_to_finish_of(pool, batch),
    )


async def load_others(pool: Pool, batch: BatchSummary, owner: str | None) -> list[DictRow]:
    """The batches that a finished one can be compared with; with `owner` those of one owner."""
    if batch.finished_at is None:
        return []
    args = {"batch_id": batch.id, "subject_id": batch.subject_id, "owner": owner, "limit": OTHERS_MAX}
    return await fetch_all(pool, SQL["others"], args)


async def _runs(pool: Pool, batch_id: UUID, selection: Selection) -> list[DictRow]:
    args = {
        "batch_id": batch_id,
        "state": selection.state,
        "nothing_found": selection.nothing_found,
        "limit": RUNS_PER_PAGE + 1,
        "offset": (selection.page - 1) * RUNS_PER_PAGE,
    }
    return await fetch_all(pool, SQL[f"runs_by_{selection.order}"], args)


async def _answers(pool: Pool, runs: list[DictRow]) -> dict[UUID, str]:
    args = {"ids": [run["id"] for run in runs], "chars": ANSWER_CHARS}
    rows = await fetch_all(pool, SQL["answers"], args)
    return {row["id"]: first_sentences(row["answer"]) for row in rows}


async def _chart(pool: Pool, batch: BatchSummary) -> CostChart | None:
    if batch.started_at is None:
        return None
    since, until = batch.started_at, batch.finished_at or datetime.now(UTC)
    args = {"batch_id": batch.id, "since": since, "until": until, "stretches": TIME_STRETCHES}
    rows = await fetch_all(pool, SQL["costs"], args)
    costs = {row["stretch"]: float(row["usd"]) for row in rows}
    limit = None if batch.budget_usd is None else float(batch.budget_usd)
    if not costs and limit is None:
        return None
    return cost_chart(
        costs,
        stretches=TIME_STRETCHES,
        limit=limit,
        reserved_usd=float(batch.reserved_usd),
        since=since,
        until=until,
    )
