from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.answers.events import ANY_EVENT
from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.batches.submit import NO_BUDGET, NewBatch, NewRun, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.model import Model
from chiron_workers.model.admission import Admission
from chiron_workers.runs.event_fields import FIELDS
from chiron_workers.runs.events import Event
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run, acquire
from chiron_workers.settings import Settings
from chiron_workers.skills import Skills
from chiron_workers.states import EventKind, Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool
from chiron_workers.toolkit.registry import Registry
from chiron_workers.worker.execution import Execution
from support.scripted_model import Script, ScriptedModel, scripted_model, supports_all

LEASE = timedelta(seconds=12)


class OneStep(Execution):
    """An execution that ends after each step, as if its worker had been stopped there."""

    looks = 0

    @property
    def is_stopping(self) -> bool:
        self.looks += 1
        return self.looks > 1

    @is_stopping.setter
    def is_stopping(self, value: bool) -> None:
        pass


@dataclass
class Stage:
    """Everything a run needs, without Celery: a test plays takings by hand."""

    pool: Pool
    settings: Settings
    embedder: Embedder
    resources: AsyncExitStack
    registry: Registry = field(default_factory=Registry)
    published: list[Event] = field(default_factory=list)
    runs_of_tools: list[str] = field(default_factory=list)
    skills: Skills = field(default_factory=Skills)
    server: ScriptedModel = field(default_factory=ScriptedModel)
    model_name: str = "claude-opus-5-5"
    tools_pool: Pool | None = None  # None: tools share the pool of the core
    holds_events_to_models: bool = True  # not where the events of a version before were written by hand

    async def model(
        self, script: Script, *, capabilities: Any = 404, judge: Script | None = supports_all
    ) -> None:
        """Put a scripted model in place."""
        server = scripted_model(script, capabilities=capabilities, judge=judge)
        self.server = await self.resources.enter_async_context(server)

    async def submit(
        self,
        *topics: str,
        max_turns: int = 50,
        budget: Budget = NO_BUDGET,
        run_budget: Budget = NO_BUDGET,
        **options: Any,
    ) -> list[UUID]:
        runs = [
            NewRun(topic, "research", "Physics", self.model_name, max_turns, budget=run_budget, **options)
            for topic in topics
        ]
        return (await submit(self.pool, NewBatch(runs, "Physics", budget=budget))).run_ids

    async def claim(self, run_id: UUID, worker: str = "here") -> Run:
        """Ring for a queued run, whoever's turn it is, and take it."""
        await self.rows(
            "update runs set dispatched_at = now() where id = %s and state = 'queued' returning id", run_id
        )
        claimed = await acquire(self.pool, run_id, worker=worker, lease_for=LEASE)
        assert claimed is not None
        self.published.append(claimed[1])
        return claimed[0]

    def execution(self, run: Run) -> Execution:
        traffic = Admission(self.settings)
        model = Model(self.settings, traffic, base_url=self.server.url, api_key="test")
        self.resources.push_async_callback(traffic.close)
        self.resources.push_async_callback(model.close)
        journal = Journal(self.pool, self.published.append, lease_for=LEASE)
        tools = Toolbox(
            self.registry,
            journal,
            self.tools_pool or self.pool,
            self.embedder,
            self.settings,
            lambda _: model,
            self.skills,
        )
        return Execution(run, journal, model, tools, self.settings)

    async def play(self, run_id: UUID) -> Outcome:
        return await self.execution(await self.claim(run_id)).execute()

    async def rows(self, query: str, *args: Any) -> list[DictRow]:
        async with self.pool.connection() as connection:
            return await (await connection.execute(query, args)).fetchall()

    async def end_waiting(self) -> None:
        """As if all that runs wait for were over."""
        await self.rows("update runs set ready_at = now() where state = 'queued' returning 1")
        await self.rows("update holds set until = now() - interval '1 second' returning 1")

    async def row(self, run_id: UUID) -> DictRow:
        return (await self.rows("select * from runs where id = %s", run_id))[0]

    async def kinds(self, run_id: UUID) -> list[str]:
        """The stored events of a run; they are gapless from 1."""
        rows = await self.rows("select seq, kind from events where run_id = %s order by seq", run_id)
        assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
        return [row["kind"] for row in rows]


NODE = {"status": "saved", "node_id": "n", "subject_id": "s", "depth": 0, "is_goal_critical": False}


@asynccontextmanager
async def open_stage(pool: Pool, settings: Settings, embedder: Embedder) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as resources:
        made = Stage(pool, settings, embedder, resources)
        for function in _tools(made.runs_of_tools):
            made.registry.register(function)
        yield made
        await _check_event_fields(made)


async def _check_event_fields(stage: Stage) -> None:
    """Hold every event of the test to the fields that the page of events names, and to what clients expect of its kind."""
    # Read here: Postgres' own functions take no data with the character 0, which a reply may hold.
    rows = await stage.rows("select batch_id, run_id, seq, kind, at, data from events")
    unnamed = {
        (row["kind"], field) for row in rows for field in row["data"] if field not in FIELDS[row["kind"]]
    }
    assert not unnamed, f"chiron_workers/runs/event_fields.py does not name {unnamed}"
    for row in rows if stage.holds_events_to_models else []:
        ANY_EVENT.validate_json(Event(**row).to_json())


def _tools(ran: list[str]) -> list[Callable[..., Any]]:
    @tool
    async def note(store: Store, *, words: str) -> dict[str, str]:
        """Keep a note.

        Args:
            words: What to keep.
        """
        ran.append(words)
        await store.subjects.ensure(words, words.title())
        store.session.emit(EventKind.NODE_SAVED, NODE | {"title": words})
        return {"kept": words}

    @tool
    async def echo(store: Store, *, words: str) -> str:
        """Say it again.

        Args:
            words: What to say.
        """
        ran.append(words)
        return words

    @tool
    async def explode(store: Store) -> str:
        """Write something, then fail."""
        await store.subjects.ensure("half-written", "Half written")
        raise RuntimeError("the tool broke")

    return [note, echo, explode]
