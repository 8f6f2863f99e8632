"""What commands say to an id that is not there, to a text that is none, and to the id of something else."""

import json
import re

import pytest

from chiron_workers.ids import new_id

BEGINNING = "ffffffff"  # of no id: theirs begin with the time
COMMANDS_WITH_ID = [
    ("show", "ID"),
    ("show", "ID", "--transcript"),
    ("results", "ID"),
    ("watch", "ID"),
    ("cancel", "ID"),
    ("pause", "ID"),
    ("resume", "ID"),
    ("retry", "ID"),
    ("say", "ID", "Go on."),
    ("logs", "ID"),
    ("delete", "ID", "--yes"),
    ("withdraw", "ID"),
    ("diff", "ID", "last"),
    ("subscriptions", "show", "ID"),
    ("subscriptions", "pause", "ID"),
    ("subscriptions", "resume", "ID"),
    ("subscriptions", "delete", "ID"),
    ("webhooks", "deliveries", "ID"),
    ("webhooks", "remove", "ID"),
    ("webhooks", "resend", "ID"),
    ("webhooks", "test", "ID"),
    ("learn", "decide", "ID", "--accept", "--reason", "So it is."),
]
COMMANDS_WITH_ID_OR_NAME = [("report", "ID"), ("export", "ID")]
COMMANDS_WITH_RUN = [("show", "ID", "--transcript"), ("say", "ID", "Go on."), ("logs", "ID")]


@pytest.fixture
def batch(chiron):
    """A batch of one run that is named: (its id, the id of the run)."""
    receipt = json.loads(chiron("submit", "A", "--subject", "S", "--name", "high tides", "--json").stdout)
    return receipt["batch_id"], receipt["run_ids"][0]


def failure(chiron, arguments: tuple[str, ...], text: str) -> tuple[int, str]:
    """The exit code and the sentence of a command about a text."""
    result = chiron(*(text if argument == "ID" else argument for argument in arguments))
    assert (result.stdout, result.stderr.count("\n")) == ("", 1), arguments
    return result.exit_code, result.stderr


def faults(chiron, commands: list[tuple[str, ...]], texts: list[str], *, code: int, words: str) -> list[str]:
    """Each command about each text that ends with another code, or says nothing that matches these words."""
    answers = [
        (" ".join(arguments), text, *failure(chiron, arguments, text))
        for arguments in commands
        for text in texts
    ]
    return [
        f"{command} of {text!r} ends with {exit_code}: {sentence}"
        for command, text, exit_code, sentence in answers
        if exit_code != code or not re.search(words, sentence)
    ]


def test_an_id_that_nothing_has_is_a_failure(chiron, batch):
    commands, unknown = COMMANDS_WITH_ID + COMMANDS_WITH_ID_OR_NAME, str(new_id())
    assert faults(chiron, commands, [unknown], code=1, words=unknown) == []
    assert faults(chiron, commands, [BEGINNING], code=1, words=f"No id .*begins with {BEGINNING}") == []
    for group in ("subscriptions", "webhooks", "learn"):
        of_group = [arguments for arguments in commands if arguments[0] == group]
        assert faults(chiron, of_group, [BEGINNING], code=1, words=f"`chiron {group} ") == []


def test_a_text_that_is_no_id_is_a_wrong_call(chiron, batch):
    texts = ["no-such-thing", "", "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa0"]
    assert faults(chiron, COMMANDS_WITH_ID, texts, code=2, words="is no id") == []


def test_a_name_of_nothing_is_a_failure_and_what_can_be_no_name_a_wrong_call(chiron, batch):
    for words in ("no subject 'no-such-thing'", "No batch"):
        assert faults(chiron, COMMANDS_WITH_ID_OR_NAME, ["no-such-thing"], code=1, words=words) == []
    assert faults(chiron, COMMANDS_WITH_ID_OR_NAME, ["?"], code=2, words="") == []


def test_a_batch_where_a_run_is_asked_for_is_a_wrong_call(chiron, batch):
    words = "is a batch; name one of its runs. See the runs of the batch: `chiron show"
    assert faults(chiron, COMMANDS_WITH_RUN, [batch[0]], code=2, words=words) == []


def test_a_run_where_batches_are_compared_is_a_wrong_call(chiron, batch):
    code, sentence = failure(chiron, ("diff", "last", "ID"), batch[1])
    assert (code, f"is a run of batch {batch[0]}" in sentence) == (2, True), sentence


def test_a_report_and_an_export_take_the_name_of_a_batch(chiron, batch):
    by_id = chiron("report", batch[0], "--format", "json")
    by_name = chiron("report", "high tides", "--format", "json")
    assert (by_name.exit_code, json.loads(by_name.stdout)["id"]) == (0, json.loads(by_id.stdout)["id"])
    assert chiron("export", "high tides").exit_code == 0


def test_of_a_subject_and_a_batch_of_one_name_the_subject_is_reported(chiron, batch):
    chiron("submit", "B", "--subject", "High tides")
    report = json.loads(chiron("report", "high tides", "--format", "json").stdout)
    assert (report["kind"], report["id"]) == ("subject", "high-tides")


def test_a_name_that_several_batches_have_is_a_wrong_call(chiron, batch):
    chiron("submit", "B", "--subject", "S", "--name", "high tides")
    for command in ("show", "report", "export"):
        code, sentence = failure(chiron, (command, "ID"), "high tides")
        assert (code, "means several ids" in sentence) == (2, True), sentence


def test_an_empty_subject_is_not_all_subjects(chiron, batch):
    assert chiron("recompute", "--subject", "").exit_code == 2


def test_a_misspelt_batch_or_model_is_answered_with_the_nearest(chiron):
    batch = chiron("submit", "Tides", "--subject", "Moon", "--name", "Lakes week 1")
    assert batch.exit_code == 0
    refusal = chiron("show", "lakes wek 1")
    assert (refusal.exit_code, refusal.stderr) == (
        2,
        "chiron: 'lakes wek 1' is no id and no name of a batch. Did you mean Lakes week 1?\n",
    )
    assert "Did you mean last?" in chiron("watch", "lats").stderr
    for model, names in (("claude-opsu-5", "claude-opus-5 or "), ("offlin", "offline? Set it in ")):
        refusal = chiron("submit", "Ebb", "--subject", "Moon", "--model", model)
        assert refusal.exit_code == 2
        assert refusal.stderr.startswith(f"chiron: The price of {model} is not known. Did you mean {names}")
