import asyncio
import json

import pytest
from redis import Redis

from chiron_workers.pubsub.channels import batch_channel
from chiron_workers.pubsub.signals import CHANNEL


@pytest.fixture
def batch(chiron):
    """A batch with two queued runs: (its id, the ids of the runs)."""
    found = json.loads(chiron("submit", "A", "B", "--subject", "S", "--json").stdout)
    return found["batch_id"], found["run_ids"]


@pytest.fixture
def claimed(rows, batch):
    """One of the runs, as if a worker played it."""
    rows("update runs set state = 'running', lease = 1 where id = %s returning id", batch[1][0])
    return batch[1][0]


def states(rows) -> list[str]:
    return [row["state"] for row in rows("select state from runs order by id")]


def test_each_command_says_what_happened(chiron, batch, rows):
    batch_id, (first, second) = batch
    for arguments, said, after in (
        (("pause", first), "Paused: 1 run.", ["paused", "queued"]),
        (("pause", batch_id), "Paused: 1 run.", ["paused", "paused"]),
        (
            ("resume", batch_id),
            f"Going on: 2 runs. `chiron watch {batch_id}` follows.",
            ["queued", "queued"],
        ),
        (("cancel", second), "Cancelled: 1 run.", ["queued", "cancelled"]),
        (("cancel", batch_id), "Cancelled: 1 run.", ["cancelled", "cancelled"]),
        (("retry", second), f"Tried again: 1 run. `chiron watch {second}` follows.", ["cancelled", "queued"]),
    ):
        found = chiron(*arguments)
        assert (found.exit_code, found.stdout, found.stderr) == (0, f"{said}\n", "")
        assert states(rows) == after


def test_what_is_completed_is_tried_again_only_from_scratch(chiron, batch, rows):
    rows("update runs set state = 'completed' where id = %s returning id", batch[1][0])
    rows("update batches set open_runs = 1 returning id")
    found = chiron("retry", batch[1][0])
    assert (found.exit_code, "1 completed" in found.stderr) == (1, True)
    found = chiron("retry", batch[1][0], "--from-scratch")
    assert found.stdout == f"Tried again: 1 run. `chiron watch {batch[1][0]}` follows.\n"
    assert rows("select state, epoch from runs order by id")[0] == {"state": "queued", "epoch": 2}
    found = chiron("retry", batch[1][0], "--from-scratch")
    assert (found.exit_code, "1 queued" in found.stderr) == (1, True)


def test_of_a_played_run_it_says_that_the_worker_acts(chiron, batch, claimed, rows):
    found = chiron("pause", batch[0])
    assert found.stdout == "Paused: 1 run; pausing as soon as the model has answered: 1 run.\n"
    found = chiron("cancel", claimed)
    assert found.stdout == "Being cut off by its worker: 1 run.\n"
    assert rows("select stop_requested from runs where id = %s", claimed) == [{"stop_requested": "cancel"}]


@pytest.mark.parametrize("command", ["resume", "retry"])
def test_a_wrong_transition_is_one_sentence_and_exit_code_1(chiron, batch, command, rows):
    found = chiron(command, batch[0])
    assert found.exit_code == 1
    assert found.stdout == ""
    assert found.stderr.startswith(f"chiron: {batch[0]} stays as it is: nothing of it is ")
    assert found.stderr.endswith("(2 queued).\n")
    assert found.stderr.count("\n") == 1
    assert states(rows) == ["queued", "queued"]


def test_a_spent_budget_is_refused_until_a_higher_one_is_given(chiron, rows):
    batch_id = json.loads(
        chiron(
            "submit", "A", "--subject", "S", "--model", "claude-opus-5-5", "--budget-usd", "1", "--json"
        ).stdout
    )["batch_id"]
    chiron("pause", batch_id)
    rows("update batches set spent_usd = 1 returning id")
    refused = chiron("resume", batch_id)
    assert (refused.exit_code, "higher budget" in refused.stderr) == (1, True)
    assert chiron("resume", batch_id, "--budget-usd", "nothing").exit_code == 2
    assert chiron("resume", batch_id, "--budget-usd", "$3").exit_code == 0
    assert rows("select budget_usd from batches")[0]["budget_usd"] == 3


def test_workers_and_watchers_are_told_and_nobody_is_rung_for(chiron, batch, settings):
    batch_id, _ = batch
    with Redis.from_url(settings.redis_url) as redis, redis.pubsub() as heard:
        heard.subscribe(CHANNEL, batch_channel(batch_id))
        rung = redis.llen("chiron")
        chiron("pause", batch_id)
        chiron("resume", batch_id)
        assert redis.llen("chiron") == rung
        redis.publish(CHANNEL, "that was all")
        told = []
        while "that was all" not in [data for _, data in told]:
            message = heard.get_message(timeout=60)
            assert message is not None
            if message["type"] == "message":
                told.append((message["channel"].decode(), message["data"].decode()))
    assert [data for channel, data in told if channel == CHANNEL] == [batch_id, batch_id, "that was all"]
    kinds = [json.loads(data)["kind"] for channel, data in told if channel != CHANNEL]
    assert kinds == ["run.paused", "run.paused", "run.queued", "run.queued"]


def test_without_redis_the_command_holds_all_the_same(chiron, batch, monkeypatch, rows):
    from chiron_workers.settings import settings as read_settings

    monkeypatch.setenv("CHIRON_REDIS_URL", "redis://127.0.0.1:1")
    read_settings.cache_clear()
    found = chiron("cancel", batch[0])
    assert (found.exit_code, found.stdout) == (0, "Cancelled: 2 runs.\n")
    assert states(rows) == ["cancelled", "cancelled"]


def test_watching_a_cancelled_batch_ends_with_1(chiron, batch):
    chiron("cancel", batch[0])
    found = chiron("watch", batch[0])
    assert found.exit_code == 1
    assert found.stdout.splitlines()[-1].startswith("Cancelled: 2 cancelled;")
    assert "#1 A  cancelled" in found.stdout


def test_a_paused_batch_is_shown_as_paused_and_its_watching_goes_on(chiron, batch, capsys):
    from chiron_api.cli.display.progress import show_events

    chiron("pause", batch[0])
    assert json.loads(chiron("show", batch[0], "--json").stdout)["state"] == "paused"

    async def shown() -> None:
        watching, said = asyncio.create_task(show_events(batch[0])), ""
        async with asyncio.timeout(60):
            while said.count("paused: asked for") < 2:
                said += capsys.readouterr().out
                assert not watching.done()
                await asyncio.sleep(0.01)
        assert "#1 A  paused: asked for" in said
        await asyncio.wait([watching], timeout=0.5)
        assert not watching.done()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

    asyncio.run(shown())
