"""A budget pause says why and what to do, and `resume` without more money changes nothing."""

import asyncio
import json
import re
from decimal import Decimal

import pytest
from support.json_lines import json_lines
from support.run_harness import Stage
from support.scripted_model import says

from chiron_workers.batches.steering import resume
from chiron_workers.batches.summaries import summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import Conflict

TWO_CENTS = Budget(Decimal("0.02"))


@pytest.mark.parametrize("where", ["run", "batch"])
async def test_resume_without_more_money_says_so_and_changes_nothing(stage: Stage, where: str) -> None:
    await stage.model(lambda _: says("done"))
    given = {"run_budget": TWO_CENTS} if where == "run" else {"budget": TWO_CENTS}
    (run_id,) = await stage.submit("tides", **given)
    await stage.play(run_id)
    before = await stage.row(run_id)
    assert before["state"] == "paused"
    assert "0.0200 USD, which cannot pay one call: it may cost" in before["error"]["message"]
    for target in (run_id, before["batch_id"]):
        with pytest.raises(Conflict, match=r"no more money than before.*about \d+\.\d\d USD in all"):
            await resume(stage.pool, target)
    with pytest.raises(Conflict, match="no more money"):
        await resume(stage.pool, run_id if where == "run" else before["batch_id"], budget=TWO_CENTS)
    assert await stage.row(run_id) == before
    assert (await stage.kinds(run_id))[-2:] == ["budget.reached", "run.paused"]
    await resume(stage.pool, run_id if where == "run" else before["batch_id"], budget=Budget(Decimal(5)))
    await stage.play(run_id)
    assert (await stage.row(run_id))["answer"] == "done"


@pytest.mark.parametrize("where", ["run", "batch"])
@pytest.mark.parametrize(
    ("poor", "higher"),
    [(TWO_CENTS, Budget(Decimal("0.03"))), (Budget(tokens=100), Budget(tokens=200))],
    ids=["usd", "tokens"],
)
async def test_resume_with_too_little_for_one_call_is_refused(
    stage: Stage, chiron, where: str, poor: Budget, higher: Budget
) -> None:
    await stage.model(lambda _: says("done"))
    (run_id,) = await stage.submit("tides", **{"run_budget" if where == "run" else "budget": poor})
    await stage.play(run_id)
    before = await stage.row(run_id)
    target = run_id if where == "run" else before["batch_id"]
    option = ("--budget-tokens", str(higher.tokens)) if higher.tokens else ("--budget-usd", str(higher.usd))
    refusal = await asyncio.to_thread(chiron, "resume", str(target), *option)
    assert (refusal.exit_code, refusal.stdout) == (1, "")
    assert "It stays paused, since that cannot pay its next call." in refusal.stderr
    assert await stage.row(run_id) == before
    [amount] = re.findall(r"of about ([\d.,]+) (?:USD|tokens) in all lets", refusal.stderr)
    amount = amount.replace(",", "")
    assert (await asyncio.to_thread(chiron, "resume", str(target), option[0], amount)).exit_code == 0
    await stage.play(run_id)
    assert (await stage.row(run_id))["answer"] == "done"


async def test_resume_of_a_batch_lets_those_go_on_that_have_money(stage: Stage) -> None:
    await stage.model(lambda _: says("done"))
    (poor_id,) = await stage.submit("tides", run_budget=TWO_CENTS)
    (rich_id,) = await stage.submit("moons")
    await stage.play(poor_id)
    batch_id = (await stage.row(poor_id))["batch_id"]
    await stage.rows(
        "update runs set batch_id = %s, number = 2, state = 'paused' where id = %s returning 1",
        batch_id,
        rich_id,
    )
    assert (await resume(stage.pool, batch_id)).changed == 1
    assert (await stage.row(poor_id))["state"] == "paused"


async def test_a_batch_that_paused_or_failed_shows_its_reasons(stage: Stage, chiron) -> None:
    await stage.model(lambda _: says("done"))
    poor_id, failed_id = await stage.submit("tides", "moons", run_budget=TWO_CENTS)
    await stage.play(poor_id)
    await stage.rows(
        """update runs set state = 'failed', error = '{"kind": "model", "message": "No answer."}'
            where id = %s returning 1""",
        failed_id,
    )
    batch = await summary(stage.pool, (await stage.row(poor_id))["batch_id"])
    assert [(reason["state"], reason["kind"], reason["runs"]) for reason in batch.reasons] == [
        ("paused", "budget", 1),
        ("failed", "model", 1),
    ]
    said = (await asyncio.to_thread(chiron, "show", "last")).stdout
    assert "1 run failed (model): No answer." in said
    assert "1 run paused (budget): The run may cost 0.0200 USD, which cannot pay one call" in said
    [listed] = json_lines((await asyncio.to_thread(chiron, "list", "--json")).stdout)
    assert len(listed["reasons"]) == 2
    said = (await asyncio.to_thread(chiron, "show", str(poor_id))).stdout
    assert "Paused (budget): The run may cost" in said
    [amount] = re.findall(rf"`chiron resume {poor_id} --budget-usd (\d+\.\d\d)` gives it that", said)
    await resume(stage.pool, poor_id, budget=Budget(Decimal(amount)))
    await stage.play(poor_id)
    assert (await stage.row(poor_id))["answer"] == "done"


@pytest.mark.parametrize("is_dry", [True, False], ids=["dry run", "submit"])
def test_a_submit_warns_of_a_budget_that_cannot_pay_one_call(chiron, is_dry: bool) -> None:
    call = ("submit", "A", "B", "-s", "S", "--model", "claude-opus-5-5", *(["--dry-run"] if is_dry else []))
    answer = chiron(*call, "--run-budget-usd", "0.02")
    assert answer.stderr.count("Warning: 0.02 USD cannot pay one call of claude-opus-5-5") == 1
    assert (answer.exit_code, "Warning" in answer.stdout) == (0, False)
    assert "Warning: 0.02 USD cannot pay" in chiron(*call, "--budget-usd", "0.02").stderr
    assert "Warning: 200 tokens cannot pay" in chiron(*call, "--budget-tokens", "200").stderr
    assert "cannot pay" not in chiron(*call).stderr
    assert "cannot pay" not in chiron(*call, "--json").output


def test_the_estimate_as_json_holds_the_warnings(chiron) -> None:
    call = ("submit", "A", "-s", "S", "--model", "claude-opus-5-5", "--dry-run", "--json")
    assert json.loads(chiron(*call).stdout)["warnings"] == []
    assert len(json.loads(chiron(*call, "--budget-usd", "0.02").stdout)["warnings"]) == 1
