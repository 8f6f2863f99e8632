"""Every command that takes an id takes `last#1`, the first run of the newest batch of topics."""

import json

import pytest

RUN_COMMANDS = [
    ("show", "ID", "--json"),
    ("show", "ID", "--transcript"),
    ("results", "ID", "--json"),
    ("watch", "ID"),
    ("cancel", "ID"),
    ("pause", "ID"),
    ("resume", "ID"),
    ("retry", "ID"),
    ("say", "ID", "Go on."),
    ("logs", "ID"),
    ("delete", "ID", "--yes"),
    ("report", "ID"),
    ("export", "ID"),
    ("diff", "ID", "last"),
]
PREPARATIONS = {"resume": "pause", "retry": "cancel", "delete": "cancel", "watch": "cancel"}


@pytest.fixture
def run_ids(chiron):
    """The runs of a batch of two topics, which is the newest."""
    receipt = chiron("submit", "Ice", "Snow", "--subject", "Water", "--name", "Lakes week 1", "--json")
    return json.loads(receipt.stdout)["run_ids"]


@pytest.mark.parametrize("reference", ["last#1", "Lakes week 1#1"])
@pytest.mark.parametrize("command", RUN_COMMANDS, ids=" ".join)
def test_a_command_takes_the_number_of_a_run(chiron, run_ids, command, reference):
    if preparation := PREPARATIONS.get(command[0]):
        chiron(preparation, run_ids[0])
    by_number = chiron(*(reference if word == "ID" else word for word in command))
    if command[0] == "diff":
        assert (by_number.exit_code, f"{reference} is a run of batch" in by_number.stderr) == (2, True)
        return
    expected_code = 1 if command[0] == "watch" else 0  # it was cancelled
    assert by_number.exit_code == expected_code, by_number.stderr
    if "--json" in command:
        assert json.loads(by_number.stdout)["id"] == run_ids[0]


def test_steering_by_number_meets_that_run_alone(chiron, run_ids, rows):
    assert chiron("cancel", "last#2").exit_code == 0
    states = rows("select number, state from runs order by number")
    assert [(row["number"], row["state"]) for row in states] == [(1, "queued"), (2, "cancelled")]


def test_numbers_stand_beside_the_topics(chiron, run_ids):
    [first, second] = [
        line.split("\t") for line in chiron("show", "last").stdout.splitlines() if "\t" in line
    ]
    assert (first[0], first[-2:], second[-2:]) == (run_ids[0], ["Ice", "#1"], ["Snow", "#2"])
    assert "(#2 of its batch)" in chiron("show", "last#2").stdout
    assert chiron("results", "last").stdout.startswith("#1 Ice\n")
    lines = [json.loads(line) for line in chiron("results", "last", "--json").stdout.splitlines()]
    assert [line["number"] for line in lines] == [1, 2]
    assert json.loads(chiron("show", "last#2", "--json").stdout)["number"] == 2


def test_a_watched_batch_names_its_runs_by_their_numbers_also_from_the_first_event_on(chiron, run_ids):
    chiron("cancel", "last")
    for options in ((), ("--history",)):
        lines = chiron("watch", "last", *options).stdout
        assert "#1 Ice" in lines
        assert "#2 Snow" in lines


def test_a_number_that_no_run_has_says_what_there_is(chiron, run_ids):
    answer = chiron("show", "last#3")
    assert (answer.exit_code, answer.stderr) == (1, "chiron: Batch last has no run #3; its last one is #2.\n")
