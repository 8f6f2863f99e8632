"""A hundred turns at a server that bills like Claude's cost hardly more than the least that is possible."""

from typing import Any

import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, text, turn

from benchmarks.billing import Till
from chiron_workers.states import Outcome

TURNS = 100
WORDS = "The tide follows the moon by about fifty minutes a day. " * 12


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("ttl", "turn_s"), [("5m", 20), ("1h", 600)])
async def test_each_token_is_written_to_the_cache_once_and_read_after_that(
    stage: Stage, ttl: str, turn_s: float
) -> None:
    clock = Clock()
    till = Till(stage.model_name, clock, ttl=ttl)

    def script(request: dict[str, Any]) -> Says:
        clock.now += turn_s
        number = turn(request)
        said = says("All done.")
        if number < TURNS - 1:
            parallel = 14 if number % 7 == 3 else 1
            asked = [call("echo", words=f"{WORDS} {number}.{n}") for n in range(parallel)]
            said = calls(text(f"Turn {number}. {WORDS}"), *asked)
        return Says(said.blocks, said.stop, usage=till.bill(request, output_tokens=300))

    stage.settings = stage.settings.model_copy(update={"cache_ttl": ttl})
    await stage.model(script)
    (run_id,) = await stage.submit("tides", max_turns=TURNS)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(till.usages) == TURNS
    assert float((await stage.row(run_id))["spent_usd"]) == pytest.approx(float(till.paid_usd), abs=1e-4)
    assert till.paid_usd <= till.least_usd * 11 / 10
