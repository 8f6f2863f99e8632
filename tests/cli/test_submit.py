import json
import os
import sys
from datetime import UTC, datetime, timedelta

import pytest
from redis import Redis
from support import forked_python

from chiron_workers.pubsub.signals import CHANNEL


def test_in_a_pipe_only_the_id_is_printed(chiron, rows):
    found = chiron("submit", "Generators", "Duck typing", "--subject", "Python", "--priority", "3")
    assert found.exit_code == 0
    # It is the first subject of all, no worker is alive, and there is no source.
    new_subject, no_worker, no_source = found.stderr.splitlines()
    assert new_subject.startswith("Note:")
    assert no_worker.startswith("No worker is alive, and runs wait for one; Redis answers;")
    assert no_source.startswith("Warning:")
    [batch] = rows("select * from batches")
    assert found.stdout == f"{batch['id']}\n"
    stored = rows("select topic, role, model, priority, max_turns, subject_id from runs order by id")
    assert [row.pop("topic") for row in stored] == ["Generators", "Duck typing"]
    assert stored[0] == {
        "role": "research", "model": "offline", "priority": 3, "max_turns": 200, "subject_id": "python"
    }  # fmt: skip


def test_json_gives_the_ids(chiron, rows):
    found = json.loads(chiron("submit", "A", "B", "--subject", "S", "--json").stdout)
    assert list(found) == ["batch_id", "run_ids"]
    assert found["run_ids"] == [str(row["id"]) for row in rows("select id from runs order by id")]


def test_workers_are_told_of_the_batch_and_rung_for_by_nobody_else(chiron, settings, rows):
    with Redis.from_url(settings.redis_url) as redis, redis.pubsub() as pubsub:
        pubsub.subscribe(CHANNEL)
        pubsub.get_message(timeout=60)
        waiting = redis.llen("chiron")
        batch_id = chiron("submit", "A", "B", "--subject", "S").stdout.strip()
        assert pubsub.get_message(timeout=60)["data"] == batch_id.encode()
        assert redis.llen("chiron") == waiting
    assert rows("select 1 from runs where dispatched_at is not null") == []


def test_topics_come_from_arguments_a_file_and_standard_input_together(chiron, rows, tmp_path):
    (tmp_path / "more.csv").write_text("topic,subject,priority\nC,Other,9\n")
    assert chiron("submit", "A", "-", "--file", "more.csv", "-s", "S", stdin="# x\nB\n").exit_code == 0
    assert [(row["topic"], row["subject_id"], row["priority"]) for row in rows("select * from runs order by id")] == [
        ("A", "s", 0), ("B", "s", 0), ("C", "other", 9)
    ]  # fmt: skip


def test_piped_topics_need_no_flag(chiron, rows):
    assert chiron("submit", "--subject", "S", stdin="A\nB\n").exit_code == 0
    assert chiron("submit", "--subject", "S", stdin='{"topic": "C"}\n').exit_code == 0
    assert chiron("submit", "--subject", "S", stdin='[\n"D",\n"E"\n]').exit_code == 0
    assert chiron("submit", "--subject", "S", stdin="[Draft] What is F?\n").exit_code == 0
    topics = [row["topic"] for row in rows("select topic from runs order by id")]
    assert topics == ["A", "B", "C", "D", "E", "[Draft] What is F?"]


@pytest.mark.parametrize("is_dry", [True, False], ids=["dry run", "submit"])
def test_topics_that_are_the_same_are_named(chiron, is_dry):
    answer = chiron("submit", "Ice", "Snow", "ice", "-s", "S", *(["--dry-run"] if is_dry else []))
    assert answer.exit_code == 0
    assert answer.stderr.count("Warning: Topics 1 and 3 are the same, “Ice”") == 1


@pytest.mark.parametrize("is_dry", [True, False], ids=["dry run", "submit"])
def test_a_topic_that_nobody_can_see_is_refused_with_its_line(chiron, rows, tmp_path, is_dry):
    (tmp_path / "t.txt").write_text("Ice\n\u200b\nSnow\n", encoding="utf-8")
    answer = chiron("submit", "--file", "t.txt", "-s", "S", *(["--dry-run"] if is_dry else []))
    assert answer.exit_code == 2
    assert "t.txt, line 2: The topic is empty: none of its characters can be seen (U+200B)." in answer.stderr
    assert rows("select 1 from runs") == []


def test_a_file_may_name_the_subject_of_each_topic(chiron, rows):
    assert (
        chiron("submit", stdin='{"topic": "A", "subject": "X"}\n{"topic": "B", "subject": "Y"}').exit_code
        == 0
    )
    assert [row["subject_id"] for row in rows("select subject_id from runs order by id")] == ["x", "y"]


def test_the_same_key_gives_the_same_batch(chiron, rows):
    call = ("submit", "A", "--subject", "S", "--idempotency-key", "k")
    assert chiron(*call).stdout == chiron(*call).stdout
    assert len(rows("select 1 from runs")) == 1
    refused = chiron("submit", "B", "--subject", "S", "--idempotency-key", "k")
    assert refused.exit_code == 1
    assert "'k' was used for another request" in refused.stderr


def test_a_budget_is_stored(chiron, rows):
    assert chiron("submit", "A", "--subject", "S", "--budget-usd", "$2.50").exit_code == 0
    assert str(rows("select budget_usd from batches")[0]["budget_usd"]) == "2.500000"


def test_a_limit_and_a_time_to_start_are_stored(chiron, rows, tmp_path):
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    (tmp_path / "t.jsonl").write_text(f'"A"\n{{"topic": "B", "ready_at": "{tomorrow.isoformat()}"}}\n')
    assert (
        chiron(
            "submit", "-f", "t.jsonl", "-s", "S", "--concurrency", "3", "--ready-at", "2000-01-01"
        ).exit_code
        == 0
    )
    assert [row["concurrency"] for row in rows("select concurrency from batches")] == [3]
    assert rows("select topic, ready_at from runs where ready_at > now()") == [
        {"topic": "B", "ready_at": tomorrow}
    ]


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        ((), "", "standard input holds no topic"),
        (("A",), None, "Topic 1: say which subject"),
        (("A", " ", "-s", "S"), None, "Topic 2: The topic is empty"),
        (("x" * 4_001, "-s", "S"), None, "4,001 characters"),
        (("A", "-s", "S", "--role", "poet"), None, "no role 'poet'; the roles are "),
        (("-s", "S", "--file", "t.csv"), None, "t.csv, line 3: The topic is empty"),
        (("-s", "S", "--file", "bad.txt"), None, "bad.txt, line 1"),
        (("-s", "S", "--file", "none.txt"), None, "none.txt cannot be read"),
        (("A", "-s", "S", "--budget-usd", "-1"), None, "above 0"),
        (("A", "-s", "S", "--budget-usd", "nan"), None, "above 0"),
        (("A", "-s", "S", "--budget-usd", "1e99"), None, "at most 10,000,000"),
        (("A", "-s", "S", "--max-turns", "0"), None, "max-turns"),
        (("A", "-s", "S", "--concurrency", "0"), None, "concurrency"),
        (("A", "-s", "S", "--ready-at", "soon"), None, "must be a time such as tomorrow, tuesday, 7d"),
        (("A", "-s", "S", "--ready-at", "9000-01-01"), None, "within ten years"),
        (("A", "-s", "S", "--priority", "99999999999"), None, "priority"),
        (("A", "-s", "???"), None, "subject cannot be used"),
    ],
)
def test_a_wrong_call_is_one_sentence_and_stores_nothing(chiron, rows, tmp_path, arguments, stdin, message):
    (tmp_path / "t.csv").write_text("topic,role\nA,research\n,research\n")
    (tmp_path / "bad.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    found = chiron("submit", *arguments, stdin=stdin)
    assert found.exit_code == 2
    assert message in " ".join(found.stderr.split())
    assert "Traceback" not in found.output
    assert rows("select 1 from batches") == []


def test_a_broker_that_is_down_loses_nothing(settings, rows, tmp_path):
    environment = os.environ | {
        "CHIRON_DATABASE_URL": settings.database_url,
        "CHIRON_REDIS_URL": "redis://127.0.0.1:1",
        "CHIRON_MODEL": "offline",
    }
    command = [sys.executable, "-m", "chiron_api", "submit", "A", "--subject", "S"]
    found = forked_python.run(command, env=environment, cwd=tmp_path, timeout=60)
    assert found.returncode == 0
    [batch] = rows("select id from batches")
    assert found.stdout == f"{batch['id']}\n"
    lines = [line for line in found.stderr.splitlines() if not line.startswith(("Note: ", "Warning: "))]
    cut, health = lines
    assert cut.startswith("Redis cannot be reached")
    assert "Redis does not answer" in health


def test_a_budget_in_a_file_that_is_no_amount_is_named_with_its_line(chiron, tmp_path):
    (tmp_path / "t.csv").write_text("topic,budget_usd\nA,1\nB,-4\n")
    found = chiron("submit", "--file", "t.csv", "--subject", "S")
    assert found.exit_code == 2
    assert found.stderr.startswith("chiron: t.csv, line 3: The budget must be above 0")


def test_a_message_to_a_queued_run_waits_for_it(chiron, rows):
    [run_id] = json.loads(chiron("submit", "A", "--subject", "S", "--json").stdout)["run_ids"]
    found = chiron("say", run_id, "Look at PEP 255 too.")
    assert (found.exit_code, found.stdout) == (0, "The run reads it next.\n")
    assert [row["text"] for row in rows("select text from inbox")] == ["Look at PEP 255 too."]


def test_tools_are_listed_as_definitions(chiron):
    definitions = json.loads(chiron("tools", "--json").stdout)
    assert {"store_knowledge", "vector_search"} <= {one["name"] for one in definitions}
    assert all(set(one) >= {"name", "description", "input_schema"} for one in definitions)
    assert "store_knowledge" in chiron("tools").stdout


def test_thinking_and_effort_are_those_of_the_topic_of_the_call_or_of_the_settings(
    chiron, rows, tmp_path, monkeypatch
):
    monkeypatch.setenv("CHIRON_THINKING", "disabled")
    (tmp_path / "t.jsonl").write_text('"A"\n{"topic": "B", "thinking": "adaptive", "effort": "max"}\n')
    assert chiron("submit", "--file", "t.jsonl", "-s", "S", "--effort", "low").exit_code == 0
    stored = rows("select thinking, effort from runs order by id")
    assert [tuple(row.values()) for row in stored] == [("disabled", "low"), ("adaptive", "max")]
    refused = chiron("submit", "-s", "S", stdin='{"topic": "A", "effort": "much"}\n')
    assert refused.exit_code != 0
    assert "effort must be 'low', 'medium', 'high', 'xhigh' or 'max' (got 'much')." in refused.stderr
