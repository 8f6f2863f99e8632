"""The page offers a button, and the API a request, where the terminal has a command."""

import re
from decimal import Decimal

import httpx2
from support.run_harness import Stage
from support.scripted_model import Says, call, says

from chiron_workers.billing.budgets import Budget

ENDLESS = Says((call("echo", words="on"),), "tool_use")


async def test_a_run_that_used_all_its_turns_has_a_button_that_continues_it(
    stage: Stage, client: httpx2.AsyncClient
) -> None:
    await stage.model(lambda _: ENDLESS)
    run_ids = await stage.submit("tides", "moons", max_turns=1)
    for run_id in run_ids:
        await stage.play(run_id)
    run_page = (await client.get(f"/runs/{run_ids[0]}")).text
    assert f'action="/runs/{run_ids[0]}/resume"' in run_page
    assert f'action="/runs/{run_ids[0]}/retry"' not in run_page, "nothing is paid again"
    assert "Continue the run" in run_page
    batch_id = (await stage.row(run_ids[0]))["batch_id"]
    batch_page = (await client.get(f"/batches/{batch_id}")).text
    assert batch_page.count("used all its turns (1)") == 1
    assert f'action="/batches/{batch_id}/resume"' in batch_page
    for text in (run_page, batch_page):
        assert not re.search(r"chiron (resume|retry|say)", text)
    [reason] = (await client.get(f"/v1/batches/{batch_id}")).json()["reasons"]
    [remedy] = reason["remedies"]
    await stage.model(lambda _: says("done"))
    answer = await client.request(remedy["method"], remedy["path"], json=remedy["body"])
    assert (answer.status_code, answer.json()["changed"]) == (202, 2)
    for run_id in run_ids:
        await stage.play(run_id)
    assert (await client.get(f"/v1/batches/{batch_id}")).json()["state"] == "completed"


async def test_problem_details_have_the_request_that_helps(stage: Stage, client: httpx2.AsyncClient) -> None:
    await stage.model(lambda _: says("done"))
    [run_id] = await stage.submit("tides", run_budget=Budget(Decimal("0.02")))
    await stage.play(run_id)
    run = (await client.get(f"/v1/runs/{run_id}")).json()
    [remedy] = run["error"]["remedies"]
    assert remedy["body"] == {"budget_usd": run["cost_to_finish"]["usd"]}
    refusal = await client.post(f"/v1/runs/{run_id}/resume", json={})
    problem = refusal.json()
    assert (refusal.status_code, problem["remedies"]) == (409, [remedy])
    assert "--" not in problem["detail"] and "`chiron" not in problem["detail"]
    form = await client.post(f"/runs/{run_id}/resume", data={"budget_usd": ""})
    assert (form.status_code, 'name="budget_usd"' in form.text) == (409, True)
    answer = await client.request(remedy["method"], remedy["path"], json=remedy["body"])
    assert answer.status_code == 202
    await stage.play(run_id)
    assert (await stage.row(run_id))["answer"] == "done"


async def test_an_error_of_a_version_before_is_shown_as_it_is_without_a_remedy(
    stage: Stage, client: httpx2.AsyncClient
) -> None:
    [run_id] = await stage.submit("tides")
    error = '{"kind": "empty_reply", "message": "Nothing came. `chiron retry` asks again."}'
    await stage.rows("update runs set state = 'failed', error = %s where id = %s returning 1", error, run_id)
    run = (await client.get(f"/v1/runs/{run_id}")).json()
    assert run["error"] == {"kind": "empty_reply", "message": "Nothing came. `chiron retry` asks again."}
    page = (await client.get(f"/runs/{run_id}")).text
    assert "Nothing came." in page and f'action="/runs/{run_id}/retry"' in page


async def test_views_show_problems_that_have_no_remedies(stage: Stage, client: httpx2.AsyncClient) -> None:
    await stage.model(lambda _: says("done"))
    [run_id] = await stage.submit("tides", run_budget=Budget(Decimal("0.02")))
    await stage.play(run_id)
    error = """update runs set error = '{"kind": "bill", "message": "Nothing is paid."}' where id = %s returning batch_id"""
    [row] = await stage.rows(error, run_id)
    for path in ("/", f"/batches/{row['batch_id']}", f"/runs/{run_id}"):
        answer = await client.get(path)
        assert answer.status_code == 200, path
        assert path == "/" or "Nothing is paid." in answer.text
