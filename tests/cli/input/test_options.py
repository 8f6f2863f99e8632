"""Options that derive from the input of an act: how they are refused, and which may be empty."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from chiron_api.cli import load_command
from chiron_api.cli.commands import SUMMARIES

Command = Callable[..., Result]
RUN_ID = "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"
WEEKLY = ("--cron", "0 9 * * MON")
REFUSALS: list[tuple[tuple[str, ...], str]] = [
    (("check", "Birds", "--model", "x" * 201), "--model must have at most 200 characters (got 201)."),
    (("report", "--subject", "Birds", "--write", "--model", "x" * 201),
     "--model must have at most 200 characters (got 201)."),
    (("submit", "A", "--subject", ""), "--subject must not be empty."),
    (("submit", "A", "--subject", "x" * 201), "--subject must have at most 200 characters (got 201)."),
    (("submit", "A", "--subject", "S", "--name", "x" * 201), "--name must have at most 200 characters (got 201)."),
    (("search", ""), "query must not be empty."),
    (("search", "ice", "--subject", ""), "--subject must not be empty."),
    (("search", "ice", "--topic", ""), "--topic must not be empty."),
    (("search", "ice", "--neighbours"), "--neighbours goes with --node."),
    (("search", "ice", "--subject", "!!"), "The subject must be a name with letters or digits (got '!!')."),
    (("search", " "), "The query must not be empty."),
    (("withdraw", RUN_ID, "--reason", "x" * 1_001), "--reason must have at most 1,000 characters (got 1,001)."),
    (("learn", "start", "!!", "--goal", "x"), "The subject must be a name with letters or digits (got '!!')."),
    (("say", RUN_ID, " "), "A message has between 1 and 100,000 characters."),
    (("say", RUN_ID, ""), "MESSAGE must not be empty."),
    (("say", RUN_ID, "x" * 100_001), "MESSAGE must have at most 100,000 characters (got 100,001)."),
    (("learn", "start", "Birds", "--goal", "", "--depth", ""), "--goal must not be empty. --depth must not be empty."),
    (("learn", "lesson", "Birds", ""), "node must not be empty."),
    (("learn", "decide", RUN_ID, "--accept", "--reason", ""), "--reason must not be empty."),
    (("learn", "research", "!!"), "The subject must be a name with letters or digits (got '!!')."),
    (("subscriptions", "add", "", "--subject", "S", *WEEKLY), "TOPIC must not be empty."),
    (("subscriptions", "add", *"A" * 21, "--subject", "S", *WEEKLY), "TOPIC must have at most 20 entries (got 21)."),
    (("webhooks", "add", ""), "URL must not be empty."),
    (("webhooks", "add", "https://example.org", "--kinds", ""), "--kinds must not be empty."),
    (("keys", "create", "x" * 65, "--scope", "read"), "name must have at most 64 characters (got 65)."),
    (("audit", "--owner", ""), "--owner must not be empty."),
    (("audit", "--owner", "x" * 201), "--owner must have at most 200 characters (got 201)."),
]  # fmt: skip
BEFORE_THE_INPUT: list[tuple[tuple[str, ...], str]] = [
    (("search", "ice", "--top-k", "0"), "'--top-k': must be at least 1."),
    (("search", "ice", "--min-confidence", "2"), "'--min-confidence': must be at most 1."),
    (("search", "ice", "--min-confidence", "x"), "'--min-confidence': must be a number."),
    (("check", "Birds", "--budget-tokens", "1.5"), "'--budget-tokens': must be a whole number."),
    (("retry", RUN_ID, "--budget-usd", "0"), "'--budget-usd': must be an amount above 0, such as 2.50 (got '0')."),
    (("subscriptions", "add", "A", "-s", "S", *WEEKLY, "--until", "x"), "'--until': must be a time such as"),
]  # fmt: skip


def test_what_an_input_refuses_is_said_of_the_option(chiron: Command) -> None:
    for arguments, sentence in REFUSALS:
        refusal = chiron(*arguments)
        assert (refusal.exit_code, refusal.stderr) == (2, f"chiron: {sentence}\n"), arguments


def test_what_is_no_value_is_refused_in_plain_words(chiron: Command) -> None:
    for arguments, words in BEFORE_THE_INPUT:
        refusal = chiron(*arguments)
        assert (refusal.exit_code, words in " ".join(refusal.stderr.split())) == (2, True), refusal.stderr


def test_an_empty_model_or_owner_of_a_key_is_left_out(
    chiron: Command, rows: Callable[..., list[dict[str, Any]]]
) -> None:
    assert chiron("submit", "A", "--subject", "S", "--model", "").exit_code == 0
    assert [row["model"] for row in rows("select model from runs")] == ["offline"]
    key = json.loads(chiron("keys", "create", "ada", "--scope", "read", "--owner", "", "--json").stdout)
    assert key["owner"] == "ada"
    assert "There is no subscription." in chiron("subscriptions", "list", "--subject", "").stdout


@pytest.mark.parametrize("name", SUMMARIES)
def test_every_option_says_what_it_is_for(name: str) -> None:
    command = load_command(name)
    parts = list(getattr(command, "commands", {"": command}).values())
    assert [param.opts for part in parts for param in part.params if not param.help] == []
