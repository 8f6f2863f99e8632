"""A worker whose lease was lost without its knowing writes nothing more: shown at each kind of write.

A taking is played up to the very statement that would write. There it stands still, as a stopped process does: its lease
runs out, the run is rescued and claimed by another worker. Then it goes on, and no row of any table may differ after it.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Identifier
from psycopg_pool import AsyncConnectionPool
from support.run_harness import LEASE, Stage, open_stage
from support.scripted_model import Fails, Says, Script, call, calls, says, text, turn

from chiron_workers.billing import reservations
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool, connect, open_pool
from chiron_workers.db.pipelines import Statement, _Exchange
from chiron_workers.embeddings import Embedder
from chiron_workers.runs import journal
from chiron_workers.runs import release as endings
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import acquire, renew, say
from chiron_workers.runs.rescue import rescue
from chiron_workers.settings import Settings
from chiron_workers.states import Outcome

FENCE = re.compile(r" and (r\.)?lease = %\(lease\)s")

ROWS = SQL("select t::text from {} t")


@dataclass
class Moment:
    """The statement at which a worker is stopped, the n-th time it comes to it; `act` is what happens meanwhile."""

    query: SQL | None = None
    countdown: int = 1
    act: Callable[[], Awaitable[None]] | None = None
    came: bool = False

    async def meet(self, query: object) -> None:
        if self.came or query is not self.query:
            return
        self.countdown -= 1
        if self.countdown == 0 and self.act is not None:
            self.came = True
            await self.act()


@dataclass
class Write:
    """A kind of write, the script that leads there, and what else the run needs for it."""

    statement: str
    script: Script
    nth: int = 1
    module: Any = journal
    budget: Budget = field(default_factory=Budget)
    prepare: Callable[[Stage, UUID], Awaitable[Any]] | None = None
    is_draining: bool = False


async def tell(stage: Stage, run_id: UUID) -> None:
    await say(stage.pool, run_id, "Be brief.")


def plays(*replies: Says | Fails) -> Script:
    return lambda request: replies[turn(request)]


def asks_the_model(request: dict[str, Any]) -> Says | Fails:
    if any(str(tool.get("type", "")).startswith("web_search") for tool in request["tools"]):
        return says("found")
    return calls(call("web_search", query="tides", subject_id="physics"))


NOTE = calls(call("note", words="one"))
AWAY = Fails(529, "overloaded_error", headers={"retry-after": "300"})
WRITES = {
    "the opening": Write("append", plays(says("x"))),
    "the question": Write("append", plays(says("x")), nth=2),
    "messages taken": Write("lock", plays(says("x")), prepare=tell),
    "a reservation": Write("reserve", plays(says("x")), module=reservations),
    "a reservation from a batch's budget": Write(
        "lock_run", plays(says("x")), module=reservations, budget=Budget(usd=Decimal(5))
    ),
    "a reservation given back": Write("release", plays(AWAY), module=reservations),
    "a call counted as lost": Write("write_off", plays(Fails(stream="drop")), module=reservations),
    "a reply": Write("append", plays(says("x")), nth=3),
    "a reply with tool calls": Write("append", plays(NOTE, says("x")), nth=3),
    "a tool's rows and result": Write("settle_writes", plays(NOTE, says("x"))),
    "a tool's error": Write("settle_call", plays(calls(call("explode")), says("x"))),
    "what a tool paid a model": Write("settle_call", asks_the_model),
    "a later reply": Write("append", plays(NOTE, says("x")), nth=4),
    "the completion": Write("lock", plays(says("x")), module=endings),
    "the failure": Write("lock", plays(Says((text("no"),), stop="refusal")), module=endings),
    "the pause at the budget": Write(
        "lock", plays(says("x")), budget=Budget(usd=Decimal("0.0001")), module=endings
    ),
    "the hand-back until the model is there": Write("lock", plays(AWAY), module=endings),
    "the hand-back of a draining worker": Write("lock", plays(says("x")), is_draining=True, module=endings),
}


@pytest.fixture
def moment() -> Moment:
    return Moment()


@pytest.fixture
async def stage(
    database_url: str,
    settings: Settings,
    embedder: Embedder,
    moment: Moment,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Stage]:
    """A stage whose first worker stops where the test says."""
    unsent = defaultdict[AsyncConnection[DictRow], list[object]](list)  # of what goes out together
    add = _Exchange.add

    def watched_add(self: _Exchange, statement: Statement) -> None:
        unsent[self._connection].append(statement.query)
        add(self, statement)

    class Watched(AsyncConnection[DictRow]):
        async def execute(self, query: Any, *args: Any, **kwargs: Any) -> Any:
            await moment.meet(query)
            return await super().execute(query, *args, **kwargs)

        async def wait(self, *args: Any, **kwargs: Any) -> Any:
            for query in unsent.pop(self, []):
                await moment.meet(query)
            return await super().wait(*args, **kwargs)

    monkeypatch.setattr(_Exchange, "add", watched_add)

    async with AsyncExitStack() as resources:
        pool: Pool = AsyncConnectionPool(
            database_url,
            connection_class=Watched,
            kwargs={"autocommit": True, "row_factory": dict_row},
            max_size=5,
            open=False,
        )
        await pool.open()
        resources.push_async_callback(pool.close)
        tried_once = settings.model_copy(update={"model_tries": 1})
        yield await resources.enter_async_context(open_stage(pool, tried_once, embedder))


async def lose(database_url: str, run_id: UUID) -> None:
    """The lease runs out, the rescue comes by, and another worker claims the run."""
    async with open_pool(database_url, size=2) as pool:
        async with pool.connection() as connection:
            late = "update runs set leased_until = now() - interval '1 minute' where id = %s"
            await connection.execute(late, [run_id])
        other = Journal(pool, lambda _: None, lease_for=LEASE)
        assert await rescue(other, may_rescue=lambda _: True, max_attempts=5) == 1
        async with pool.connection() as connection:
            await connection.execute("delete from holds")
            await connection.execute("update runs set dispatched_at = now() where id = %s", [run_id])
        assert await acquire(pool, run_id, worker="another", lease_for=LEASE) is not None


def all_rows(database_url: str) -> Mapping[str, list[str]]:
    """Every row of every table, as text."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        names = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        return {
            name: sorted(row for (row,) in connection.execute(ROWS.format(Identifier(name))))
            for (name,) in names
        }


async def play_past(
    stage: Stage, moment: Moment, database_url: str, write: Write
) -> tuple[Outcome, Mapping[str, list[str]]]:
    """Play a taking that loses its lease at that write; how it ended, and the tables as the other worker had them."""
    tables: dict[str, list[str]] = {}
    await stage.model(write.script)
    (run_id,) = await stage.submit("tides", budget=write.budget)

    async def lose_it() -> None:
        await lose(database_url, run_id)
        tables.update(all_rows(database_url))

    run = await stage.claim(run_id)
    if write.prepare:
        await write.prepare(stage, run_id)
    moment.query, moment.countdown, moment.act = write.module.SQL[write.statement], write.nth, lose_it
    execution = stage.execution(run)
    execution.is_stopping = write.is_draining
    outcome = await execution.execute()
    assert moment.came, "the taking never came to that write"
    return outcome, tables


@pytest.mark.parametrize("name", WRITES)
async def test_a_worker_that_lost_its_lease_does_not_write(
    stage: Stage, moment: Moment, database_url: str, name: str
) -> None:
    if name == "what a tool paid a model":
        offer_search(stage)
    outcome, before = await play_past(stage, moment, database_url, WRITES[name])
    assert all_rows(database_url) == before
    assert outcome is Outcome.LEFT


@pytest.mark.parametrize("name", WRITES)
async def test_it_is_the_fence_that_keeps_it_from_writing(
    stage: Stage, moment: Moment, database_url: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = WRITES[name]
    for module in (journal, endings, reservations):
        for statement, query in module.SQL.items():
            monkeypatch.setitem(module.SQL, statement, SQL(FENCE.sub("", query.as_string())))  # type: ignore[arg-type]
    if name == "what a tool paid a model":
        offer_search(stage)
    _, before = await play_past(stage, moment, database_url, write)
    assert all_rows(database_url) != before


def offer_search(stage: Stage) -> None:
    from chiron_workers.tools import registry

    stage.registry = registry()


async def test_a_renewal_keeps_no_run_that_another_worker_has(stage: Stage, database_url: str) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await lose(database_url, run_id)
    before = all_rows(database_url)
    with connect(database_url) as connection:
        (astray,) = renew(connection, [(run.id, run.lease)], lease_for=timedelta(hours=1))
    assert (astray.id, astray.is_lost) == (run.id, True)
    assert all_rows(database_url) == before
