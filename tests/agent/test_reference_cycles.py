"""Runs leave no garbage that only the collector finds: a worker collects rarely."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from support.run_harness import Stage
from support.scripted_model import call, calls, says, turn

from chiron_workers.states import Outcome

TURNS = 12


@contextmanager
def collector_off() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def test_turns_and_runs_make_no_reference_cycles(stage: Stage) -> None:
    script = [calls(call("note", words=f"w{n}"), call("explode")) for n in range(TURNS)]
    await stage.model(lambda request: [*script, says("All done.")][turn(request)])
    warm_up, run_id = await stage.submit("warm up", "tides")
    assert await stage.play(warm_up) is Outcome.PLAYED
    with collector_off():
        assert await stage.play(run_id) is Outcome.PLAYED
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        ours = [type(each) for each in gc.garbage if type(each).__module__.startswith("chiron_workers")]
        assert ours == []
        assert len(gc.garbage) < 10 * TURNS
