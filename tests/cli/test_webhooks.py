import json
import re
import shlex
from collections.abc import Callable
from typing import Any

from click.testing import Result
from support.json_lines import json_lines

Chiron = Callable[..., Result]
Rows = Callable[..., list[dict[str, Any]]]
URL = "https://example.org/hook"


def added(chiron: Chiron, *more: str) -> dict[str, Any]:
    result = chiron("webhooks", "add", URL, "--json", *more)
    assert result.exit_code == 0, result.output
    webhook: dict[str, Any] = json.loads(result.stdout)
    return webhook


def test_a_webhook_is_added_listed_tried_and_removed(chiron: Chiron, rows: Rows) -> None:
    assert chiron("webhooks", "list").output.startswith("There is no webhook.")
    webhook = added(chiron)
    assert (webhook["state"], webhook["format"]) == ("active", "standard")
    shown = chiron("webhooks", "list").output
    assert shown.startswith(
        f"{webhook['id']}  active  standard  {URL}\n  run.failed, run.paused, batch.completed"
    )
    assert webhook["secret"].removeprefix("whsec_") not in shown
    assert chiron("webhooks", "deliveries", webhook["id"]).output == "Nothing was sent to it yet.\n"
    trial = json.loads(chiron("webhooks", "test", webhook["id"], "--json").stdout)
    assert (trial["kind"], trial["state"], trial["tries"]) == ("webhook.test", "waiting", 0)
    rows("update deliveries set state = 'failed', tries = 10, error = 'It answered 500.' returning 1")
    listed = chiron("webhooks", "deliveries", webhook["id"][:30]).output
    assert listed == f"{trial['id']}  failed after 10 tries  webhook.test  It answered 500.\n"
    assert f"{trial['id']}  waiting  webhook.test  due " in chiron("webhooks", "resend", trial["id"]).output
    removed = chiron("webhooks", "remove", webhook["id"]).output
    assert removed == f"Removed: webhook {webhook['id']}.\n"
    assert json_lines(chiron("webhooks", "list", "--json").stdout) == []


def test_the_secret_is_printed_once_for_who_verifies(chiron: Chiron) -> None:
    output = chiron("webhooks", "add", URL, "--kinds", "all").output
    assert "  secret whsec_" in output
    assert "run.cancelled" in output
    assert "secret" not in chiron("webhooks", "add", URL, "--format", "slack").output


def test_webhooks_add_names_the_command_that_tests_it(chiron: Chiron) -> None:
    output = chiron("webhooks", "add", URL).output
    [command] = re.findall(r"Next: `([^`]+)` sends it a test", output)
    program, *arguments = shlex.split(command)
    assert (program, arguments[:2]) == ("chiron", ["webhooks", "test"])
    assert "waiting" in chiron(*arguments).output


def test_a_webhook_that_is_off_says_why_and_a_test_turns_it_on(chiron: Chiron, rows: Rows) -> None:
    webhook = added(chiron)
    trial = json.loads(chiron("webhooks", "test", webhook["id"], "--json").stdout)
    rows("update webhooks set state = 'off', reason = 'It answered 410: it is gone.' returning 1")
    listed = chiron("webhooks", "list").output
    assert "It answered 410: it is gone." in listed
    assert f"`chiron webhooks resume {webhook['id']}` resumes it" in listed
    assert chiron("webhooks", "resend", trial["id"]).exit_code == 1
    assert chiron("webhooks", "test", webhook["id"]).exit_code == 0
    assert "410" not in chiron("webhooks", "list").output


def test_what_is_no_webhook_is_refused_with_what_to_do(chiron: Chiron) -> None:
    for arguments, words in (
        (("add", "http://127.0.0.1/"), "CHIRON_WEBHOOK_PRIVATE"),
        (("add", URL, "--kinds", "run.exploded"), "There is no kind 'run.exploded'"),
        (("add", "mailto:ada@example.org"), "CHIRON_SMTP_HOST"),
    ):
        result = chiron("webhooks", *arguments)
        assert result.exit_code != 0
        assert words in " ".join(result.output.split())
