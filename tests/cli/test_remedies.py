"""A problem has its remedies as objects, which each front end renders in its own way."""

import asyncio
import json
import re
import shlex
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest
from support.printed_commands import commands_in, parse
from support.run_harness import Stage
from support.scripted_model import Says, call, says

from chiron_api.acts.remedies import request_of
from chiron_api.cli.commands import SUMMARIES
from chiron_api.cli.display.remedies import command_of
from chiron_workers.batches.steering import resume
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.problems import (
    CONTINUE,
    CONTINUE_BATCH,
    SAY_SOMETHING,
    SEE_BATCHES,
    SEE_DELIVERIES,
    SEE_FACTS,
    SEE_KEYS,
    SEE_PROPOSALS,
    SEE_SUBSCRIPTIONS,
    SEE_WEBHOOKS,
    SUBMIT_TOPICS,
    TRY_AGAIN,
    Noun,
    Remedy,
    RemedyAction,
    cancel,
    change_setting,
    check_model,
    remedies_of,
    resume_subscription,
    resume_webhook,
    revoke_key,
    see_runs,
    start_journey,
    stop_journey,
)

ROOT = Path(__file__).parents[2]
RAISED = Remedy(RemedyAction.RESUME, Noun.BATCH, "", {"budget_usd": "0.55"})
REMEDIES = (
    CONTINUE,
    CONTINUE_BATCH,
    RAISED,
    TRY_AGAIN,
    SAY_SOMETHING,
    check_model("a model; rm x"),
    change_setting("CHIRON_PRICES"),
    SEE_BATCHES,
    SEE_SUBSCRIPTIONS,
    SEE_WEBHOOKS,
    SEE_DELIVERIES,
    SEE_FACTS,
    SEE_KEYS,
    SEE_PROPOSALS,
    SUBMIT_TOPICS,
    see_runs(uuid4()),
    cancel(Noun.BATCH, uuid4()),
    cancel(Noun.RUN, uuid4()),
    start_journey("heat-pumps"),
    stop_journey("heat-pumps"),
    revoke_key("ci"),
    resume_webhook(uuid4()),
    resume_subscription(uuid4()),
)
# What stands for a word in a printed command.
PLACEHOLDER = re.compile(r"\{[^{}]*(?:\{[^{}]*\})?[^{}]*\}")
COMMAND = re.compile(r"`chiron ((?:[^`\\\n]|\\.)+)`|<code>chiron ([^<]+)</code>")


def printed_commands() -> Iterator[tuple[str, str]]:
    for folder in ("chiron_workers", "chiron_api"):
        for suffix in ("*.py", "*.html"):
            for file in sorted((ROOT / folder).rglob(suffix)):
                # A literal that goes on in the next line is one text.
                text = re.sub(r'"\n\s*f?"', "", file.read_text())
                for match in COMMAND.finditer(text):
                    yield f"{file.relative_to(ROOT)}", match[1] or match[2]


def words_of(line: str) -> list[str]:
    """The words of a printed command, with "A" for what is filled in, and the first where it names several."""
    line = re.sub(r"\{\{.*?\}\}", "A", line.replace("&quot;", '"').replace('\\"', '"'))
    line = re.sub(r"\|\S+", "", PLACEHOLDER.sub("A", line).replace("...", "A"))
    return shlex.split(line)


def refusal_of(words: list[str]) -> str:
    """Why the parser refuses a printed command; empty where it does not. A value that is left out, or a file, may be missing."""
    if words[0] not in SUMMARIES:
        return "" if words[0].startswith("-") else "there is no such command"
    try:
        parse(words)
    except Exception as error:  # noqa: BLE001  # typer has a copy of the classes of click
        is_incomplete = type(error).__name__ in ("BadParameter", "MissingParameter", "NoArgsIsHelpError")
        is_incomplete |= "requires an argument" in str(error)
        return "" if is_incomplete else f"{type(error).__name__}: {error}"
    except SystemExit:  # of `--help` and of a group without a command
        pass
    return ""


def test_each_printed_command_is_one_that_the_parser_reads() -> None:
    refusals = [(file, line, refusal_of(words_of(line))) for file, line in printed_commands()]
    assert len(refusals) > 100
    assert [refusal for refusal in refusals if refusal[2]] == []


@pytest.mark.parametrize("remedy", REMEDIES, ids=lambda remedy: f"{remedy.action} {remedy.noun}")
def test_a_remedy_has_a_command_that_the_parser_reads(remedy: Remedy) -> None:
    command = command_of(remedy.resolve(run_id=uuid4(), batch_id=uuid4()))
    assert bool(command) == (remedy.action is not RemedyAction.CHANGE_SETTING)
    if command:
        program, *words = shlex.split(command.strip("`"))
        assert program == "chiron"
        parse(words)


def test_a_remedy_is_the_request_that_its_act_declares() -> None:
    batch_id = uuid4()
    request = request_of(RAISED.resolve(run_id=None, batch_id=batch_id))
    assert {name: request[name] for name in ("method", "path", "body", "words")} == {
        "method": "POST",
        "path": f"/v1/batches/{batch_id}/resume",
        "body": {"budget_usd": 0.55},
        "words": "Raise the budget and continue the batch",
    }
    assert "path" not in request_of(change_setting("CHIRON_PRICES"))


def test_remedies_of_a_later_version_and_rows_of_an_earlier_one_are_passed_over() -> None:
    ids = {"run_id": uuid4(), "batch_id": uuid4()}
    later = {"remedies": [{"action": "pray", "noun": "run"}, TRY_AGAIN.as_json()]}
    assert [remedy.action for remedy in remedies_of(later, **ids)] == [RemedyAction.RETRY]
    assert remedies_of({"kind": "model", "message": "`chiron retry` asks again."}, **ids) == ()
    assert remedies_of(None, **ids) == ()


def test_no_error_of_a_run_names_a_command_in_its_words() -> None:
    folders = ("agent", "billing", "model", "runs", "worker")
    naming = [
        (file, line)
        for file, line in printed_commands()
        if any(file.startswith(f"chiron_workers/{folder}/") for folder in folders)
    ]
    assert not [
        (file, line) for file, line in naming if line.split()[0] in ("resume", "retry", "say", "doctor")
    ]


async def test_a_run_that_used_all_its_turns_continues_and_is_not_tried_again(stage: Stage, chiron) -> None:
    await stage.model(lambda request: Says((call("echo", words="on"),), "tool_use"))
    [run_id] = await stage.submit("tides", max_turns=2)
    await stage.play(run_id)
    run = await run_summary(stage.pool, run_id)
    assert (run.state, run.error and run.error["kind"]) == ("failed", "max_turns")
    assert [remedy["action"] for remedy in run.error["remedies"]] == ["resume"]
    shown = (await asyncio.to_thread(chiron, "show", str(run_id))).stdout
    assert f"Continue the run: `chiron resume {run_id}`" in shown
    as_json = json.loads((await asyncio.to_thread(chiron, "show", str(run_id), "--json")).stdout)
    [remedy] = as_json["error"]["remedies"]
    assert (remedy["method"], remedy["path"]) == ("POST", f"/v1/runs/{run_id}/resume")
    await stage.model(lambda _: says("done"))
    assert (await resume(stage.pool, run_id)).changed == 1
    await stage.play(run_id)
    row = await stage.row(run_id)
    assert (row["state"], row["answer"], row["error"]) == ("completed", "done", None)
    batch = await summary(stage.pool, row["batch_id"])
    assert (batch.state, batch.finished_at is not None) == ("completed", True)


async def test_identical_problems_of_a_batch_are_one_with_a_count(stage: Stage, chiron) -> None:
    await stage.model(lambda request: Says((call("echo", words="on"),), "tool_use"))
    run_ids = await stage.submit("tides", "moons", "winds", max_turns=1)
    for run_id in run_ids:
        await stage.play(run_id)
    batch_id = (await stage.row(run_ids[0]))["batch_id"]
    [reason] = (await summary(stage.pool, batch_id)).reasons
    assert (reason["runs"], reason["kind"]) == (3, "max_turns")
    assert [(remedy["action"], remedy["target"]) for remedy in reason["remedies"]] == [
        ("resume", str(batch_id))
    ]
    shown = (await asyncio.to_thread(chiron, "show", str(batch_id))).stdout
    assert shown.count("used all its turns (1)") == 1
    assert shown.count(f"Continue the batch: `chiron resume {batch_id}`") == 1


async def test_a_resume_without_more_money_names_the_amount_as_a_remedy(stage: Stage, chiron) -> None:
    await stage.model(lambda _: says("done"))
    [run_id] = await stage.submit("tides", run_budget=Budget(Decimal("0.02")))
    await stage.play(run_id)
    run = await run_summary(stage.pool, run_id)
    assert [(remedy["action"], remedy["target"]) for remedy in run.error["remedies"]] == [
        ("resume", str(run_id))
    ]
    refusal = await asyncio.to_thread(chiron, "resume", str(run_id))
    [command] = re.findall(r"`(chiron resume .* --budget-usd [\d.]+)`", refusal.stderr)
    assert (await asyncio.to_thread(chiron, *shlex.split(command)[1:])).exit_code == 0
    await stage.play(run_id)
    assert (await stage.row(run_id))["answer"] == "done"


def test_a_printed_command_has_quotes_around_a_name_that_needs_them(chiron, tmp_path: Path) -> None:
    name = "Lakes & rivers, week 1"
    assert chiron("submit", "tides", "moons", "-s", "Lakes", "--name", name).exit_code == 0
    outputs = [
        chiron("cancel", name),
        chiron("retry", name),
        chiron("cancel", f"{name}#1"),
        chiron("retry", f"{name}#1"),
        chiron("logs", name),
        chiron("backup", str(tmp_path / "all of it.backup")),
    ]
    commands = [words for answer in outputs for words in commands_in(answer.output)]
    [batch_id] = {words[1] for words in commands if words[0] == "show"}
    assert commands == [
        ["watch", name],
        ["watch", f"{name}#1"],
        ["show", batch_id],
        ["restore", str(tmp_path / "all of it.backup")],
    ]
