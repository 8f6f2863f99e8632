import asyncio
import json
from uuid import UUID

import pytest
from support.backdated_runs import age as make_older
from support.backdated_runs import forget_the_oldest

from chiron_workers.db.connect import open_pool


@pytest.fixture
def old_run(chiron, rows, database_url) -> str:
    """The id of a cancelled run of 200 days ago."""
    [run_id] = json.loads(chiron("submit", "A", "--subject", "S", "--json").stdout)["run_ids"]
    chiron("cancel", run_id)

    async def move() -> UUID:
        async with open_pool(database_url, size=2) as pool:
            await forget_the_oldest(pool)
            return await make_older(pool, UUID(run_id), days=200)

    return str(asyncio.run(move()))


def test_it_says_of_each_month_whether_it_goes_and_why_not(chiron, old_run, rows):
    would = chiron("prune", "--older-than", "90d", "--dry-run")
    assert (would.exit_code, would.stderr) == (0, "")
    first, *others = would.stdout.splitlines()
    assert " would go (1 run, " in first
    assert others
    assert all(" kept: is not old enough (" in line for line in others)
    assert rows("select pruned_at from runs") == [{"pruned_at": None}]
    done = chiron("prune", "--older-than", "90d")
    assert " pruned (1 run, " in done.stdout.splitlines()[0]
    assert rows("select count(*) as left from events") == [{"left": 0}]


def test_as_json(chiron, old_run):
    found = json.loads(chiron("prune", "--older-than", "12w", "--json").stdout)
    assert found["dry_run"] is False
    month = found["months"][0]
    assert (month["runs"], month["pruned"], month["kept"]) == (1, True, None)
    assert month["bytes"] > 0
    assert [later["pruned"] for later in found["months"][1:]] == [False] * (len(found["months"]) - 1)


def test_a_pruned_run_is_shown_as_such_and_its_watching_ends_at_once(chiron, old_run):
    chiron("prune", "--older-than", "90d")
    shown = chiron("show", old_run).stdout
    assert "pruned   " in shown
    assert "its journal is gone" in shown
    found = json.loads(chiron("show", old_run, "--json").stdout)
    assert found["pruned_at"]
    assert "pruned   1 journal is gone" in chiron("show", found["batch_id"]).stdout
    for watched in (old_run, found["batch_id"]):
        seen = chiron("watch", watched)
        assert (seen.exit_code, "pruned" in seen.stdout, seen.stdout.count("\n")) == (1, True, 1)
    refused = chiron("retry", old_run)
    assert (refused.exit_code, "has no journal left to go on from" in refused.stderr) == (1, True)
    assert refused.stderr.count("\n") == 1


def test_what_is_no_age_is_refused(chiron):
    ages = ["", "90", "d", "0d", "-3d", "3 months", "9999999d", "1000000y", "1h"]
    answers = {age: chiron("prune", "--older-than", age) for age in ages}
    refusals = {
        age: (answer.exit_code, "write 90d for days" in answer.stderr) for age, answer in answers.items()
    }
    assert refusals == dict.fromkeys(ages, (2, True))
