"""What `chiron submit` says and asks before a batch is paid: new subjects, and topics that repeat or were answered."""

import json
import os

import pytest
from support.pseudo_terminal import output_in_terminal


@pytest.fixture
def answered(chiron, rows, database_url):
    """A subject with an answered topic; the number of batches can be counted from it."""
    chiron("submit", "How deep is Lake Baikal?", "--subject", "Lakes", "--name", "Lakes week 1")
    rows("update runs set state = 'completed', finished_at = now() returning 1")

    def batches() -> int:
        return int(rows("select count(*) as n from batches")[0]["n"])

    return batches


def test_without_a_terminal_it_only_says_so(chiron, answered):
    done = chiron("submit", "How deep is lake Baikal", "Ice", "ice.", "--subject", "Lakes")
    assert done.exit_code == 0
    assert "Warning: Topics 2 and 3 are the same, “Ice”" in done.stderr
    assert (
        "Warning: Topic 1, “How deep is lake Baikal”, was answered before: run #1 of “Lakes week 1”"
        in done.stderr
    )
    assert "Note: " not in done.stderr
    misspelt = chiron("submit", "Ice", "--subject", "Lake")
    assert "Note: lake is a new subject, with 0 documents. Similar: lakes (0 documents)." in misspelt.stderr
    assert answered() == 3


def test_a_dry_run_says_it_and_stores_nothing(chiron, answered):
    arguments = ("submit", "How deep is Lake Baikal?", "--subject", "Lakes", "--dry-run")
    assert "was answered before" in chiron(*arguments).stderr
    estimate = json.loads(chiron(*arguments, "--json").stdout)
    [entry] = estimate["precedents"]["earlier_answers"]
    assert (entry["number"], entry["run_number"], entry["batch"]) == (1, 1, "Lakes week 1")
    assert "new subject" in chiron("submit", "Ice", "--subject", "Lake", "--dry-run").stderr
    assert answered() == 1


@pytest.mark.parametrize(
    ("topic", "subject", "words"),
    [("How deep is Lake Baikal?", "Lakes", "answered before"), ("Ice", "Lake", "is a new subject")],
)
def test_on_a_terminal_it_asks_first(answered, topic, subject, words):
    arguments = ("submit", topic, "--subject", subject)
    refused = output_in_terminal(*arguments, environment=os.environ, typed="n\n", exit_code=1)
    assert words in refused
    assert "Nothing was submitted." in refused
    assert answered() == 1
    assert "Submit it?" in output_in_terminal(*arguments, environment=os.environ, typed="y\n")
    assert answered() == 2


def test_yes_and_a_key_that_was_used_ask_nothing(answered):
    arguments = ("submit", "How deep is Lake Baikal?", "--subject", "Lakes", "--idempotency-key", "k")
    first = output_in_terminal(*arguments, "--yes", environment=os.environ)
    assert "answered before" in first
    assert "Submit it?" not in first
    again = output_in_terminal(*arguments, environment=os.environ)
    assert "was submitted with this key before" in again
    assert "answered before" not in again
    assert answered() == 2


def test_a_topic_has_a_context_from_its_file_or_from_the_option(chiron, rows, tmp_path):
    (tmp_path / "topics.csv").write_text('topic,context\nIce,"For a children\'s book."\nSnow,\n')
    chiron("submit", "--file", "topics.csv", "--subject", "Water", "--context", "Only of lakes.")
    stored = rows("select topic, context from runs order by number")
    assert [tuple(row.values()) for row in stored] == [
        ("Ice", "For a children's book."),
        ("Snow", "Only of lakes."),
    ]
    assert "context  For a children's book." in chiron("show", "last#1").stdout
    lines = [json.loads(line) for line in chiron("results", "last", "--json").stdout.splitlines()]
    assert lines[0]["context"] == "For a children's book."
    (tmp_path / "topics.jsonl").write_text(json.dumps({"topic": "Ice", "context": "x" * 8_001}))
    refused = chiron("submit", "--file", "topics.jsonl", "--subject", "Water")
    assert (
        refused.exit_code,
        "topics.jsonl, line 1: The context has 8,001 characters" in refused.stderr,
    ) == (2, True)
