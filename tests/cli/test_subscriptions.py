import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from click.testing import Result
from support.backdated_facts import Dated, day
from support.json_lines import json_lines

from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

Chiron = Callable[..., Result]
Rows = Callable[..., list[dict[str, Any]]]
ADD = ("subscriptions", "add", "sea ice", "--subject", "The Arctic", "--cron", "0 9 * * MON")


def added(chiron: Chiron, *more: str) -> dict[str, Any]:
    found = chiron(*ADD, "--json", *more)
    assert found.exit_code == 0, found.output
    result: dict[str, Any] = json.loads(found.stdout)
    return result


def test_the_word_of_the_page_for_subscriptions_is_answered_with_the_command(chiron: Chiron) -> None:
    assert "Did you mean subscriptions?" in chiron("schedules", "list").stderr


def test_a_subscription_is_added_listed_paused_resumed_and_deleted(chiron: Chiron) -> None:
    made = added(chiron, "--time-zone", "Europe/Berlin")
    assert (made["topics"], made["subject_id"], made["state"]) == (["sea ice"], "the-arctic", "active")
    listed = chiron("subscriptions", "list").output
    assert f"{made['id']}  active  the-arctic  0 9 * * MON (Europe/Berlin)" in listed
    assert "  sea ice\n  0 times so far\n  next " in listed
    of_another = chiron("subscriptions", "list", "--subject", "moon").output
    assert of_another.startswith(
        "There is no subscription on 'moon'. `chiron subscriptions add TOPIC --subject moon "
    )
    paused = chiron("subscriptions", "pause", made["id"]).output
    assert f"{made['id']}  paused" in paused
    assert "asked for" in paused
    resumed = json.loads(chiron("subscriptions", "resume", made["id"], "--json").stdout)
    assert (resumed["state"], resumed["next_at"]) == ("active", made["next_at"])
    assert chiron("subscriptions", "delete", made["id"]).output == f"Deleted: subscription {made['id']}.\n"
    assert "There is no subscription" in chiron("subscriptions", "list").output
    assert json_lines(chiron("subscriptions", "list", "--json").stdout) == []


def test_adding_the_same_again_says_so_and_makes_no_second(chiron: Chiron, rows: Rows) -> None:
    first = added(chiron)
    again = chiron(*ADD)
    assert again.output.startswith(f"This subscription is there already.\n{first['id']}")
    assert len(json_lines(chiron("subscriptions", "list", "--json").stdout)) == 1
    assert json_lines(chiron("subscriptions", "list", "--subject", "Elsewhere", "--json").stdout) == []
    trail = rows("select action, target from audit")
    assert trail == [{"action": "subscriptions.create", "target": first["id"]}] * 2


def test_the_same_until_another_day_is_refused(chiron: Chiron) -> None:
    first = added(chiron, "--until", "2099-01-01T00:00Z")
    refused = chiron(*ADD)
    assert refused.exit_code == 1
    assert f"Subscription {first['id']} has the same topics and times, but" in refused.output
    assert "an end at 2099-01-01 00:00 UTC" in refused.output


def test_a_wrong_call_is_one_sentence(chiron: Chiron) -> None:
    for arguments, words in (
        ((*ADD[:-1], "every monday"), "Write five fields"),
        ((*ADD[:-1], "* * * * *"), "at least 60 minutes must lie between"),
        ((*ADD, "--time-zone", "Mars"), "There is no time zone 'Mars'"),
    ):
        failed = chiron(*arguments)
        assert failed.exit_code == 2, failed.output
        assert words in failed.output


def test_a_run_shows_the_texts_that_it_had_judged(chiron: Chiron, rows: Rows) -> None:
    batch = json.loads(chiron("submit", "tides", "--subject", "Physics", "--json").stdout)
    (run_id,) = batch["run_ids"]
    scores = [{"criterion": "clear", "weight": 2, "score": 4, "reason": "It is.\x1b[2J", "quote": "Tides"}]
    rows(
        "insert into evaluations (id, run_id, model, question, text, scores, overall) "
        "values (gen_random_uuid(), %s, 'judge', '', 'Tides rise.', %s, 4) returning 1",
        run_id, json.dumps(scores),
    )  # fmt: skip
    shown = chiron("show", run_id).output
    assert "Scored 4.00 of 5 by judge at " in shown
    assert "  Tides rise.\n  4 clear (weight 2): It is.\n" in shown
    [found] = json.loads(chiron("show", run_id, "--json").stdout)["evaluations"]
    assert (found["text"], found["text_chars"], found["scores"]) == ("Tides rise.", 11, scores)


def test_a_run_that_ended_silently_is_shown_so(chiron: Chiron, rows: Rows) -> None:
    batch = json.loads(chiron("submit", "tides", "--subject", "Physics", "--json").stdout)
    rows(
        "update runs set state = 'completed', silent = true, answer = 'Nothing new.', "
        "started_at = now(), finished_at = now() returning 1"
    )
    rows("update batches set open_runs = 0, finished_at = now() returning 1")
    assert "\tcompleted, silent\t1/1\t" in chiron("list").output
    assert "completed, silent (1 completed)" in chiron("show", batch["batch_id"]).output
    assert "completed, silent" in chiron("show", batch["run_ids"][0]).output
    assert json.loads(chiron("show", batch["run_ids"][0], "--json").stdout)["silent"] is True
    assert json.loads(chiron("show", batch["batch_id"], "--json").stdout)["silent"] == 1


def test_a_subscription_shows_what_each_of_its_times_has_brought(
    chiron: Chiron, rows: Rows, settings: Settings
) -> None:
    made = added(chiron)
    assert json.loads(chiron("subscriptions", "show", made["id"], "--json").stdout) == made | {"times": []}
    first, second = (
        json.loads(chiron("submit", "sea ice", "--subject", "The Arctic", "--json").stdout)["batch_id"]
        for _ in range(2)
    )
    for batch_id, at in ((first, day(1)), (second, day(11))):
        rows(
            "update batches set subscription_id = %s, due_at = %s, created_at = %s, finished_at = %s where id = %s returning 1",
            made["id"], at, at, at + timedelta(hours=1), batch_id,
        )  # fmt: skip
    asyncio.run(_a_fact(settings, "It shrinks.", at=5))
    shown = chiron("subscriptions", "show", made["id"]).output
    assert shown.startswith(f"{made['id']}  active  the-arctic")
    assert f"batch {second}\n    1 new\n" in shown
    assert shown.endswith(f"batch {first}\n    nothing is different\n")
    found = json.loads(chiron("subscriptions", "show", made["id"], "--times", "1", "--json").stdout)["times"]
    assert [(time["batch_id"], time["counts"]["new"], time["is_empty"]) for time in found] == [
        (second, 1, False)
    ]
    assert "Against the time before\nthe-arctic, 2025-" in chiron("show", second).output
    assert "\nNew (1)\n  0.90  It shrinks.\n" in chiron("show", second).output
    assert json.loads(chiron("show", first, "--json").stdout)["difference"]["is_empty"] is True
    missing = chiron("subscriptions", "show", first)
    assert (missing.exit_code, "There is no subscription" in missing.output) == (1, True)


async def _a_fact(settings: Settings, content: str, *, at: float) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        await Dated(pool, "the-arctic").fact(content, at=at)
