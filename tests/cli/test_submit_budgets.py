import json

import pytest


def test_budgets_of_the_batch_of_each_run_and_of_single_topics_are_stored(chiron, rows, tmp_path):
    (tmp_path / "more.csv").write_text("topic,budget_usd,budget_tokens\nB,0.5,900\nC,,\n")
    call = ("submit", "A", "--file", "more.csv", "-s", "S", "--budget-usd", "9", "--budget-tokens", "5000")
    assert chiron(*call, "--run-budget-usd", "$2", "--run-budget-tokens", "700").exit_code == 0
    (batch,) = rows("select budget_usd, budget_tokens from batches")
    assert (batch["budget_usd"], batch["budget_tokens"]) == (9, 5000)
    stored = rows("select budget_usd, budget_tokens from runs order by id")
    assert [(float(row["budget_usd"]), row["budget_tokens"]) for row in stored] == [
        (2, 700),
        (0.5, 900),
        (2, 700),
    ]


def test_a_run_without_a_budget_of_its_own_has_the_default(chiron, rows):
    assert chiron("submit", "A", "-s", "S").exit_code == 0
    assert rows("select budget_usd from runs")[0]["budget_usd"] == 20


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--budget-tokens", "0"), "--budget-tokens"),
        (("--run-budget-usd", "-1"), "above 0"),
        (("--run-budget-usd", "1e12"), "at most 10,000,000"),
        (("--model", "my-llama"), '{"my-llama": "none"}'),
    ],
)
def test_amounts_and_models_that_cannot_be_used(chiron, rows, wrong, said):
    found = chiron("submit", "A", "-s", "S", *wrong)
    assert (found.exit_code, said in found.stderr) == (2, True), found.stderr
    assert rows("select 1 from batches") == []


def test_a_model_that_is_said_to_have_no_price_is_bound_by_tokens_only(chiron, rows, unpriced):
    call = ("submit", "A", "-s", "S", "--model", unpriced)
    assert chiron(*call, "--budget-tokens", "5000").exit_code == 0
    refused = chiron(*call, "--budget-usd", "5")
    assert (refused.exit_code, "give a budget in tokens" in refused.stderr) == (2, True)
    assert len(rows("select 1 from batches")) == 1


def test_a_dry_run_estimates_and_submits_nothing(chiron, rows):
    call = ("submit", "A", "B", "-s", "S", "--model", "claude-opus-5-5", "--dry-run")
    found = chiron(*call)
    assert found.exit_code == 0
    assert found.stdout.startswith("2 topics, all in order. Nothing was submitted.\n")
    assert "a guess, since none has completed here yet" in found.stdout
    assert "The budgets let it cost $40.00 at most." in found.stdout
    estimate = json.loads(chiron(*call, "--budget-usd", "3", "--json").stdout)
    assert (estimate["runs"], estimate["at_most_usd"], estimate["kinds"][0]["basis"]) == (2, 3, 0)
    assert 0.1 < estimate["usd"] < estimate["usd_if_dear"] < 10
    assert rows("select 1 from batches") == rows("select 1 from subjects") == []


def test_a_dry_run_counts_what_is_left_of_the_days_money(chiron, rows, setting):
    call = ("submit", "A", "-s", "S", "--model", "claude-opus-5-5", "--dry-run")
    setting("DAILY_BUDGET_USD", "1")
    rows(
        "insert into spending (day, shard, usd) values ((now() at time zone 'utc')::date, 0, 0.25) returning 1"
    )
    assert "cost $0.7500 at most today, by CHIRON_DAILY_BUDGET_USD; $20.00 in all." in chiron(*call).stdout
    estimate = json.loads(chiron(*call, "--json").stdout)
    assert (estimate["today_usd"], estimate["at_most_usd"]) == (0.75, 20)
    assert "let it cost $0.5000 at most." in chiron(*call, "--budget-usd", "0.5").stdout


def test_a_dry_run_goes_by_what_such_runs_have_cost(chiron, rows):
    assert chiron("submit", *"ABCDEFGHIJ", "-s", "S", "--model", "claude-opus-5-5").exit_code == 0
    rows(
        "update runs set state = 'completed', turns = 8, input_tokens = 1000, spent_usd = "
        "case when topic = 'J' then 1.1 else 0.1 end returning 1"
    )
    call = ("submit", "X", "Y", "-s", "S", "--model", "claude-opus-5-5", "--dry-run")
    found = json.loads(chiron(*call, "--json").stdout)
    assert (found["usd"], found["kinds"][0]["basis"], found["kinds"][0]["turns"]) == (0.4, 10, 8)
    assert "as the last 10 of this subject took" in chiron(*call).stdout
    elsewhere = ("submit", "X", "-s", "Other", "--model", "claude-opus-5-5", "--dry-run")
    assert "as the last 10 took" in chiron(*elsewhere).stdout


def test_a_dry_run_takes_no_unknown_cost_for_nothing(chiron, rows, setting):
    setting("PRICES", '{"my-own": "none"}')
    assert chiron("submit", "A", "B", "-s", "S", "--model", "my-own").exit_code == 0
    rows(
        "update runs set state = 'completed', turns = 8, input_tokens = 4000, unpriced_calls = 8 returning 1"
    )
    call = ("submit", "X", "-s", "S", "--model", "my-own", "--dry-run")
    [kind] = json.loads(chiron(*call, "--json").stdout)["kinds"]
    assert (kind["usd"], kind["basis"], kind["tokens"]) == (None, 2, 4000)
    assert "What it costs in all is unknown." in chiron(*call).stdout
    setting("PRICES", '{"my-own": {"input": 10, "output": 100}}')
    [kind] = json.loads(chiron(*call, "--json").stdout)["kinds"]
    assert (kind["usd"] > 1, kind["basis"]) == (True, 0)
    rows("update runs set unpriced_calls = 0, spent_usd = 3 where topic = 'B' returning 1")
    [kind] = json.loads(chiron(*call, "--json").stdout)["kinds"]
    assert (kind["usd"], kind["usd_of_dear"], kind["basis"]) == (3, 3, 1)


def test_a_dry_run_refuses_what_a_submit_refuses(chiron):
    found = chiron("submit", "A", "-s", "S", "--role", "nobody", "--dry-run")
    assert (found.exit_code, "There is no role" in found.stderr) == (2, True)


def test_show_tells_what_is_unconfirmed_and_what_is_reserved(chiron, rows):
    batch_id = json.loads(chiron("submit", "A", "-s", "S", "--budget-usd", "4", "--json").stdout)["batch_id"]
    rows(
        "update runs set spent_usd = 0.5, unconfirmed_usd = 0.25, unconfirmed_calls = 1, reserved_usd = 0.1, "
        "reserved_calls = 1 returning 1"
    )
    said = chiron("show", batch_id).stdout
    assert (
        "$0.5000 of $4.00; up to $0.2500 unconfirmed, for 1 call whose reply is lost; $0.1000 reserved"
        in said
    )
    found = json.loads(chiron("show", batch_id, "--json").stdout)
    assert (found["unconfirmed_usd"], found["unconfirmed_calls"], found["reserved_usd"]) == (0.25, 1, 0.1)


def test_show_counts_tokens_against_a_budget_in_tokens(chiron, rows):
    batch_id = chiron("submit", "A", "-s", "S", "--budget-tokens", "5000").stdout.strip()
    rows("update runs set input_tokens = 1000, output_tokens = 200, spent_usd = 0.5 returning 1")
    assert "$0.5000; 1,200 of 5,000 tokens" in chiron("show", batch_id).stdout
