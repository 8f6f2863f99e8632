"""The page fills in the budget that lets a paused batch or run finish; the API says the same amount."""

import re
from decimal import Decimal
from typing import Any

import httpx2
from support.run_harness import Stage
from support.scripted_model import Says, call, text, turn

from chiron_workers.billing.budgets import Budget

FIELD = re.compile(r'<input id="budget" name="budget_usd"[^>]* value="([\d.]+)">')


def script(request: dict[str, Any]) -> Says:
    usage = {"input_tokens": 2_000, "output_tokens": 300}
    return (
        Says((text("done"),), "end_turn", usage)
        if turn(request)
        else Says((call("echo", words="on"),), "tool_use", usage)
    )


async def test_the_resume_forms_hold_the_amount_that_is_enough(
    stage: Stage, client: httpx2.AsyncClient
) -> None:
    await stage.model(script)
    for run_id in await stage.submit("one", "two", "three"):
        await stage.play(run_id)
    run_ids = await stage.submit("four", "five", "six", budget=Budget(Decimal("0.39")))
    for run_id in run_ids:
        await stage.play(run_id)
    paused = [run_id for run_id in run_ids if (await stage.row(run_id))["state"] == "paused"]
    assert paused
    batch_id = (await stage.row(paused[0]))["batch_id"]
    answer = (await client.get(f"/v1/batches/{batch_id}")).json()["cost_to_finish"]
    assert (answer["target"], answer["budget"], answer["open_runs"], answer["basis"]) == (
        str(batch_id), "batch", len(paused), "subject",
    )  # fmt: skip
    page = (await client.get(f"/batches/{batch_id}")).text
    assert FIELD.findall(page) == [f"{answer['usd']:.2f}"]
    assert answer["words"] in page
    run = (await client.get(f"/v1/runs/{paused[0]}")).json()
    assert run["cost_to_finish"] == answer, "the budget that the run met is that of its batch"
    run_page = (await client.get(f"/runs/{paused[0]}")).text
    assert FIELD.findall(run_page) == [], "more for the run alone would not help"
    assert f'href="/batches/{batch_id}#steering"' in run_page
    raised = await client.post(f"/v1/batches/{batch_id}/resume", json={"budget_usd": answer["usd"]})
    assert raised.json()["changed"] == len(paused)
    for run_id in paused:
        await stage.play(run_id)
    batch = (await client.get(f"/v1/batches/{batch_id}")).json()
    assert (batch["state"], "cost_to_finish" in batch) == ("completed", False)


async def test_a_run_that_met_its_own_budget_has_its_own_amount(
    stage: Stage, client: httpx2.AsyncClient
) -> None:
    await stage.model(script)
    [run_id] = await stage.submit("tides", run_budget=Budget(Decimal("0.02")))
    await stage.play(run_id)
    answer = (await client.get(f"/v1/runs/{run_id}")).json()["cost_to_finish"]
    assert (answer["target"], answer["budget"], answer["basis"]) == (str(run_id), "run", "assumption")
    assert "a guess, since no such run has completed here yet" in answer["words"]
    page = (await client.get(f"/runs/{run_id}")).text
    assert FIELD.findall(page) == [f"{answer['usd']:.2f}"]
    assert "chiron resume" not in answer["words"]
    batch_id = (await stage.row(run_id))["batch_id"]
    of_batch = (await client.get(f"/v1/batches/{batch_id}")).json()
    cost = of_batch["cost_to_finish"]
    assert (cost["target"], cost["usd"], cost["run_usd"]) == (str(batch_id), None, answer["usd"])
    [remedy] = of_batch["reasons"][0]["remedies"]
    assert (remedy["path"], remedy["body"]) == (
        f"/v1/batches/{batch_id}/resume",
        {"run_budget_usd": answer["usd"]},
    )
    page = (await client.get(f"/batches/{batch_id}")).text
    assert f'name="run_budget_usd" inputmode="decimal" size="8" value="{answer["usd"]:.2f}"' in page
    form = {"run_budget_usd": "5"}
    assert (await client.post(f"/batches/{batch_id}/resume", data=form)).status_code in (200, 303)
    assert (await stage.row(run_id))["budget_usd"] == 5
