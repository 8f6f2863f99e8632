"""A worker that stands still: Postgres ends the transactions it left open."""

import psycopg
import pytest
from psycopg.sql import SQL
from support.run_harness import Stage
from support.scripted_model import call, calls, says, turn
from support.worker_processes import wait_until

from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

SHORT = SQL("select set_config('idle_in_transaction_session_timeout', '50ms', true), pg_backend_pid() as pid")
ALIVE = "select pid from pg_stat_activity where pid = %s"


@pytest.mark.parametrize("where", ["at the tool's next statement", "with the tool's result"])
async def test_a_tool_whose_transaction_was_ended_is_run_again_and_that_is_no_crash(
    stage: Stage, database_url: str, where: str
) -> None:
    ran: list[str] = []

    @tool
    async def stand_still(store: Store) -> str:
        """Write something; the first time the whole worker stands still after that."""
        ran.append("once more")
        await store.subjects.ensure("tides", "Tides")
        if len(ran) == 1:
            [row] = await store.session.write(SHORT)
            with psycopg.connect(database_url, autocommit=True) as other:
                wait_until(lambda: not other.execute(ALIVE, [row["pid"]]).fetchone(), what="it is ended")
            if where == "at the tool's next statement":
                await store.subjects.ensure("moons", "Moons")
        return "done"

    stage.registry.register(stand_still)
    await stage.model(lambda request: [calls(call("stand_still")), says("Done.")][turn(request)])
    (run_id,) = await stage.submit("ice")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(ran) == 2
    assert not stage.server.requests[-1]["messages"][-1]["content"][0]["is_error"]
    assert await stage.rows("select id from subjects where id = 'tides'")
    assert (await stage.row(run_id))["attempt"] == 1
