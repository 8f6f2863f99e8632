import json

import pytest


@pytest.fixture
def batch(chiron):
    """A batch with two queued runs: (its id, the ids of the runs)."""
    found = json.loads(chiron("submit", "A", "B", "--subject", "S", "--json").stdout)
    return found["batch_id"], found["run_ids"]


def test_a_batch_is_deleted_once_it_is_cancelled(chiron, batch, rows):
    refused = chiron("delete", batch[0], "--yes")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"chiron: {batch[0]} stays as it is: not all of it is finished (2 queued). "
        f"Cancel the batch first: `chiron cancel {batch[0]}`\n"
    )
    chiron("cancel", batch[0])
    done = chiron("delete", batch[0], "--yes")
    assert (done.exit_code, done.stdout) == (0, "Deleted: 2 runs, the batch.\n")
    assert rows("select count(*) as left from events") == [{"left": 0}]
    assert chiron("show", batch[0]).exit_code == 1


def test_a_run_is_deleted_from_its_batch(chiron, batch):
    chiron("cancel", batch[1][0])
    assert chiron("delete", batch[1][0], "-y", "--with-facts").stdout == "Deleted: 1 run, 0 facts.\n"
    assert json.loads(chiron("show", batch[0], "--json").stdout)["runs"]["queued"] == 1


def test_where_nobody_can_be_asked_nothing_is_deleted(chiron, batch, rows):
    chiron("cancel", batch[0])
    found = chiron("delete", batch[0])
    assert (found.exit_code, found.stderr) == (2, "chiron: Nobody can be asked here; say --yes to delete.\n")
    assert len(rows("select 1 from runs")) == 2
