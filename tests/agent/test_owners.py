from support.run_harness import Stage
from support.scripted_model import call, calls, says, turn

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.runs.session import Caller
from chiron_workers.states import AccessScope
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


async def test_the_tools_of_a_run_act_for_whoever_submitted_it(stage: Stage) -> None:
    callers: list[Caller] = []

    @tool
    async def look(store: Store) -> str:
        """See who calls."""
        callers.append(store.caller)
        return "seen"

    stage.registry.register(look)
    await stage.model(lambda request: [calls(call("look")), says("Done.")][turn(request)])
    _, key = await create_key(stage.pool, NewKey("alice", AccessScope.ADMIN, "team"))
    batch = NewBatch([NewRun("tides", "research", "Physics", stage.model_name, 20)], "Physics")
    owned = await submit(stage.pool, batch, principal=key.principal)
    (local_id,) = await stage.submit("tides")
    for run_id in (*owned.run_ids, local_id):
        await stage.play(run_id)
    assert [(caller.owner, caller.key_id, caller.is_admin) for caller in callers] == [
        ("team", key.id, False),
        ("local", None, False),
    ]
