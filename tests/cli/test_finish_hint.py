"""A paused batch is raised once, with the command that `chiron show` prints, and finishes."""

import asyncio
import json
import re
import shlex
from decimal import Decimal
from typing import Any

from support.run_harness import Stage
from support.scripted_model import Says, call, text, turn

from chiron_workers.billing.budgets import Budget

DEAR = {"input_tokens": 3_000, "output_tokens": 400}


def script(request: dict[str, Any]) -> Says:
    return (
        Says((text("done"),), "end_turn", DEAR)
        if turn(request)
        else Says((call("echo", words="on"),), "tool_use", DEAR)
    )


async def test_the_command_that_show_prints_is_enough_for_24_runs(stage: Stage, chiron) -> None:
    await stage.model(script)
    run_ids = await stage.submit(*(f"tide {n}" for n in range(24)), budget=Budget(Decimal("0.60")))

    async def play_all() -> list[str]:
        for run_id in run_ids:
            if (await stage.row(run_id))["state"] == "queued":
                await stage.play(run_id)
        return [(await stage.row(run_id))["state"] for run_id in run_ids]

    states = await play_all()
    assert (states.count("completed") > 0, states.count("paused") > 12) == (True, True)
    shown = (await asyncio.to_thread(chiron, "show", "last")).stdout
    assert (
        f"lets the {states.count('paused')} open runs finish; {states.count('completed')} similar run"
        in shown
    )
    assert shown.count("--budget-usd") == 1, "one amount, however many runs have paused"
    [command] = re.findall(r"`(chiron resume [^`]+)` gives it that", shown)
    program, *arguments = shlex.split(command)
    amount = arguments[arguments.index("--budget-usd") + 1]
    as_json = json.loads((await asyncio.to_thread(chiron, "show", "last", "--json")).stdout)
    assert (program, as_json["cost_to_finish"]["usd"]) == ("chiron", float(amount))
    assert (await asyncio.to_thread(chiron, "resume", "last", "--budget-usd", amount)).exit_code == 0
    assert await play_all() == ["completed"] * 24
    assert "cost_to_finish" not in json.loads(
        (await asyncio.to_thread(chiron, "show", "last", "--json")).stdout
    )


async def test_one_command_is_enough_for_runs_that_met_their_own_budgets(stage: Stage, chiron) -> None:
    await stage.model(script)
    run_ids = await stage.submit("tide 1", "tide 2", "tide 3", run_budget=Budget(Decimal("0.05")))
    for run_id in run_ids:
        await stage.play(run_id)
    assert {(await stage.row(run_id))["state"] for run_id in run_ids} == {"paused"}
    shown = (await asyncio.to_thread(chiron, "show", "last")).stdout
    [command] = re.findall(r"`(chiron resume [^`]+)` gives it that", shown)
    assert "USD in all for each run lets the 3 open runs finish" in shown
    refusal = await asyncio.to_thread(chiron, "resume", "last")
    assert (refusal.exit_code, "--run-budget-usd" in refusal.stderr) == (1, True)
    refusal = await asyncio.to_thread(chiron, "resume", str(run_ids[0]), "--run-budget-usd", "1")
    assert "A budget for each run is for a batch." in refusal.stderr
    assert (await asyncio.to_thread(chiron, *shlex.split(command)[1:])).exit_code == 0
    for run_id in run_ids:
        await stage.play(run_id)
    assert {(await stage.row(run_id))["state"] for run_id in run_ids} == {"completed"}
