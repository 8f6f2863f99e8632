"""A worker whose lease was lost without its knowing writes nothing more: shown at each kind of write.

A taking is played up to the very statement that would write. There it stands still, as a stopped process does: its lease
runs out, the run is rescued and claimed by another worker; or a standby that lagged behind is promoted, and another worker
acquires the run there under the same number. Then it goes on, and no row of any table may differ after it.
"""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Identifier
from psycopg_pool import AsyncConnectionPool
from support.lagging_standby import LaggingStandby
from support.run_harness import LEASE, Stage, open_stage
from support.scripted_model import Fails, Says, Script, call, calls, says, text, turn

from chiron_workers.billing import reservations
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool, connect, open_pool
from chiron_workers.db.pipelines import Statement, _Exchange
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import LeaseLost
from chiron_workers.runs import journal
from chiron_workers.runs import release as endings
from chiron_workers.runs.entries import Question, ToolCall, ToolResult
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run, acquire, renew, say
from chiron_workers.runs.rescue import rescue
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.states import Outcome

FENCE = re.compile(r" and (r\.)?(lease = %\(lease\)s|token = %\(token\)s)")

TOKEN = re.compile(r" and (r\.)?token = %\(token\)s")
STEPS = re.compile(r" and (r\.)?steps >= %\(steps\)s")

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
    "what a model answered to a tool": Write("append_side_reply", asks_the_model),
    "a later reply": Write("append", plays(NOTE, says("x")), nth=4),
    "the completion": Write("lock", plays(says("x")), module=endings),
    "the failure": Write("lock", plays(Says((text("no"),), stop="refusal")), module=endings),
    "the pause at the budget": Write(
        "lock", plays(says("x")), budget=Budget(usd=Decimal("0.0001")), module=endings
    ),
    "the hand-back until the model is there": Write("lock", plays(AWAY), module=endings),
    "the hand-back of a draining worker": Write("lock", plays(says("x")), is_draining=True, module=endings),
}


# A late reply settles the write-off of its own call, and the sums that have it.
LATE_REPLIES = ("a reply", "a reply with tool calls", "a later reply", "what a model answered to a tool")
SETTLED = {"runs", "batch_sums", "spending", "write_offs"}
# Those that nothing but the token keeps off a run which another worker has brought further.
KEPT_OFF_BY_TOKENS = ("the opening", "a reservation", "the completion", "the hand-back of a draining worker")
# Those that rest on steps before them.
KEPT_OFF_BY_STEPS = sorted(
    set(WRITES) - {"the opening", "messages taken", "the hand-back of a draining worker"}
)


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
        assert await rescue(other, may_rescue=lambda _: True) == 1
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


async def fail_over(database_url: str, standby: LaggingStandby, run: Run) -> None:
    """The standby is promoted. If the run is free there, another worker acquires it and brings it further."""
    standby.promote()
    async with open_pool(database_url, size=2) as pool:
        async with pool.connection() as connection:
            await connection.execute("update runs set dispatched_at = now() where state = 'queued'")
        acquired = await acquire(pool, run.id, worker="another", lease_for=LEASE)
        if acquired is not None:
            assert acquired[0].lease == run.lease
            async with pool.connection() as connection:
                await connection.execute("update runs set steps = 99 where id = %s", [run.id])


class Loss(StrEnum):
    """How a worker loses its lease without its knowing."""

    RESCUE = "another worker has the run under the next number"
    FAILOVER = "another worker has the run under the same number"
    FORGOTTEN_STEPS = "the run is still its own, and has lost all steps since"


async def play_past(
    stage: Stage, moment: Moment, database_url: str, name: str, loss: Loss
) -> tuple[Outcome, Mapping[str, list[str]]]:
    """Play a taking that loses its lease at that write; how it ended, and the tables as the other worker had them."""
    write = WRITES[name]
    if write.script is asks_the_model:
        offer_search(stage)
    tables: dict[str, list[str]] = {}
    await stage.model(write.script)
    (run_id,) = await stage.submit("tides", budget=write.budget)

    async def lose_it() -> None:
        if loss is Loss.RESCUE:
            await lose(database_url, run_id)
        else:
            await fail_over(database_url, standby, run)
        tables.update(all_rows(database_url))

    standby = LaggingStandby.of(database_url)
    run = await stage.claim(run_id)
    if loss is Loss.FORGOTTEN_STEPS:
        standby = LaggingStandby.of(database_url)
    if write.prepare:
        await write.prepare(stage, run_id)
    moment.query, moment.countdown, moment.act = write.module.SQL[write.statement], write.nth, lose_it
    execution = stage.execution(run)
    execution.is_stopping = write.is_draining
    outcome = await execution.execute()
    assert moment.came and tables, "the taking never came to that write"
    return outcome, tables


@pytest.mark.parametrize("loss", [Loss.RESCUE, Loss.FAILOVER], ids=lambda loss: loss.name)
@pytest.mark.parametrize("name", WRITES)
async def test_a_worker_that_lost_its_lease_does_not_write(
    stage: Stage, moment: Moment, database_url: str, name: str, loss: Loss
) -> None:
    outcome, before = await play_past(stage, moment, database_url, name, loss)
    after = all_rows(database_url)
    if name in LATE_REPLIES and loss is Loss.RESCUE:
        assert {table for table, rows in after.items() if rows != before[table]} == SETTLED
        [write_off] = await stage.rows("select settled_at is not null as is_settled from write_offs")
        assert write_off["is_settled"]
    else:
        assert after == before
    assert outcome is Outcome.LEFT


@pytest.mark.parametrize("name", KEPT_OFF_BY_STEPS)
async def test_a_worker_whose_steps_a_failover_has_forgotten_does_not_write(
    stage: Stage, moment: Moment, database_url: str, name: str
) -> None:
    outcome, before = await play_past(stage, moment, database_url, name, Loss.FORGOTTEN_STEPS)
    assert all_rows(database_url) == before
    assert outcome is Outcome.LEFT


@pytest.mark.parametrize("name", WRITES)
async def test_it_is_the_fence_that_keeps_it_from_writing(
    stage: Stage, moment: Moment, database_url: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out(FENCE, monkeypatch)
    _, before = await play_past(stage, moment, database_url, name, Loss.RESCUE)
    assert all_rows(database_url) != before


@pytest.mark.parametrize("name", KEPT_OFF_BY_TOKENS)
async def test_it_is_the_token_that_keeps_it_from_writing_after_a_failover(
    stage: Stage, moment: Moment, database_url: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out(TOKEN, monkeypatch)
    _, before = await play_past(stage, moment, database_url, name, Loss.FAILOVER)
    assert all_rows(database_url) != before


@pytest.mark.parametrize("name", ["a tool's rows and result", "a tool's error", "the completion"])
async def test_it_is_the_count_of_steps_that_keeps_it_from_writing_what_rests_on_lost_ones(
    stage: Stage, moment: Moment, database_url: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out(STEPS, monkeypatch)
    _, before = await play_past(stage, moment, database_url, name, Loss.FORGOTTEN_STEPS)
    assert all_rows(database_url) != before


async def settle(stage: Stage, run: Run, call_id: str) -> None:
    note, result = ToolCall(call_id, "note", {}), ToolResult(call_id, '"stored"')
    keeper = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    async with Session(stage.pool) as session:
        await keeper.settle_call(run, 1, note, result, session, ms=1, events=[])


@pytest.mark.parametrize("is_forgotten", [True, False])
async def test_a_result_that_waited_for_postgres_counts_the_steps_of_calls_beside_it(
    stage: Stage, moment: Moment, database_url: str, is_forgotten: bool
) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await Journal(stage.pool, stage.published.append, lease_for=LEASE).append(run, Question("Why?"), n=1)
    standby = LaggingStandby.of(database_url)

    async def lose_the_call_beside_it() -> None:
        await settle(stage, run, "a")
        if is_forgotten:
            standby.promote()
        raise psycopg.OperationalError("the server closed the connection")

    moment.query, moment.act = journal.SQL["settle_call"], lose_the_call_beside_it
    if is_forgotten:
        with pytest.raises(LeaseLost):
            await settle(stage, run, "b")
    else:
        await settle(stage, run, "b")
    results = await stage.rows("select call_id from tool_results order by call_id")
    assert [row["call_id"] for row in results] == ([] if is_forgotten else ["a", "b"])


def take_out(condition: re.Pattern[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a condition out of all statements."""
    for module in (journal, endings, reservations):
        for statement, query in module.SQL.items():
            text = re.sub(r"\s+and ", " and ", query.as_string())
            monkeypatch.setitem(module.SQL, statement, SQL(condition.sub("", text)))  # type: ignore[arg-type]


def offer_search(stage: Stage) -> None:
    from chiron_workers.tools import registry

    stage.registry = registry()


async def test_a_renewal_keeps_no_run_that_another_worker_has(stage: Stage, database_url: str) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    await lose(database_url, run_id)
    before = all_rows(database_url)
    with connect(database_url) as connection:
        (astray,) = renew(connection, [run], lease_for=timedelta(hours=1))
    assert (astray.id, astray.is_lost) == (run.id, True)
    assert all_rows(database_url) == before


async def test_a_renewal_keeps_no_run_that_a_failover_gave_to_another_worker(
    stage: Stage, database_url: str
) -> None:
    run_id, later_id = await stage.submit("tides", "waves")
    standby = LaggingStandby.of(database_url)
    run, later_run = await stage.claim(run_id), await stage.claim(later_id)
    await fail_over(database_url, standby, run)
    await stage.rows(
        "delete from runs where id = %s returning 1", later_id
    )  # submitted after the last record
    before = all_rows(database_url)
    with connect(database_url) as connection:
        interrupts = renew(connection, [run, later_run], lease_for=timedelta(hours=1))
    assert {(each.id, each.token, each.is_lost) for each in interrupts} == {
        (run.id, run.token, True),
        (later_run.id, later_run.token, True),
    }
    assert all_rows(database_url) == before


async def test_a_renewal_lets_go_of_a_run_whose_steps_a_failover_has_forgotten(
    stage: Stage, database_url: str
) -> None:
    (run_id,) = await stage.submit("tides")
    run = await stage.claim(run_id)
    journal_of_run = Journal(stage.pool, stage.published.append, lease_for=LEASE)
    with connect(database_url) as connection:
        standby = LaggingStandby.of(database_url)
        await journal_of_run.append(run, Question("Why?"), n=1)
        assert renew(connection, [run], lease_for=LEASE) == []
        standby.promote()
        before = all_rows(database_url)
        [interrupt] = renew(connection, [run], lease_for=LEASE)
    assert (interrupt.token, interrupt.is_lost) == (run.token, True)
    assert all_rows(database_url) == before
