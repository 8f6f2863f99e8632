import json

import pytest


@pytest.fixture
def batch(chiron, rows):
    """A batch of three runs, one completed and one failed: (its id, the ids of the runs)."""
    found = json.loads(chiron("submit", "A", "B", "C", "--subject", "S", "--json").stdout)
    rows(
        "update runs set state = 'completed', answer = E'It is so.\\n\\nAnd \\x1b[2Jso.', facts = 2, spent_usd = 0.5 "
        "where topic = 'A' returning 1"
    )
    rows(
        """update runs set state = 'failed', error = '{"kind": "max_turns", "message": "Too long."}'
            where topic = 'B' returning 1"""
    )
    return found["batch_id"], found["run_ids"]


def test_json_gives_one_line_for_each_run(chiron, batch):
    found = [json.loads(line) for line in chiron("results", batch[0], "--json").stdout.splitlines()]
    assert [one["id"] for one in found] == batch[1]
    assert [(one["topic"], one["state"], one["facts"], one["spent_usd"]) for one in found] == [
        ("A", "completed", 2, 0.5), ("B", "failed", 0, 0.0), ("C", "queued", 0, 0.0)
    ]  # fmt: skip
    assert found[0]["answer"].startswith("It is so.")
    assert found[1]["error"] == {"kind": "max_turns", "message": "Too long."}


def test_people_read_topic_state_cost_and_answer(chiron, batch):
    said = chiron("results", batch[0]).stdout
    assert said.startswith(
        f"#1 A\n  completed, 2 new facts, $0.5000, run {batch[1][0]}\n\n  It is so.\n\n  And so.\n\n#2 B\n"
    )
    assert "  max_turns: Too long.\n" in said


def test_a_run_alone_is_listed_too(chiron, batch):
    [line] = chiron("results", batch[1][1], "--json").stdout.splitlines()
    assert json.loads(line)["topic"] == "B"
