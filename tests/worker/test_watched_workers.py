"""What people look at while runs go on: Flower, and `chiron watch` across an outage of Redis."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import forked_python
from support.flower_server import flower
from support.private_valkey import OwnValkey, own_valkey
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.worker_processes import chiron, environment, rows, running, wait_until

from chiron_workers.settings import Settings

FAST = {"CHIRON_RESCUE_S": "0.5", "ANTHROPIC_API_KEY": "test", "CHIRON_MODEL": "claude-opus-5-5"}


class Gated:
    """A model whose runs take 16 turns, and go no further than the gates that are open."""

    def __init__(self) -> None:
        self.gates = {5: asyncio.Event(), 10: asyncio.Event()}

    async def __call__(self, request: dict[str, Any]) -> Says:
        if gate := self.gates.get(turn(request)):
            await gate.wait()
        if turn(request) == 15:
            return says("done")
        goal = f"turn {turn(request)}"
        return calls(call("save_learning_goal", subject_id="physics", purpose_statement=goal))


def submit(settings: Settings, *topics: str) -> dict[str, Any]:
    done = chiron(settings, "submit", *topics, "--subject", "Physics", "--json", **FAST)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def test_watch_goes_on_across_a_restart_of_redis_without_a_gap_or_a_double(
    settings: Settings, tmp_path: Path
) -> None:
    script = Gated()
    async with scripted_model(script) as model:
        with own_valkey(tmp_path / "valkey") as server:
            settings = settings.model_copy(update={"redis_url": server.url})
            submitted = await asyncio.to_thread(submit, settings, "tides", "waves", "springs")
            with running(settings, **FAST, ANTHROPIC_BASE_URL=model.url):
                out = await watched_across_a_restart(settings, server, script, submitted["batch_id"])
    events = [json.loads(line) for line in out.splitlines()]
    seen = [(event["run_id"], event["seq"]) for event in events if event["seq"]]
    stored = rows(settings, "select run_id::text as run_id, seq from events")
    assert len(seen) == len(set(seen))
    assert set(seen) == {(row["run_id"], row["seq"]) for row in stored}
    for run_id in submitted["run_ids"]:
        mine = [seq for found, seq in seen if found == run_id]
        assert mine == list(range(1, len(mine) + 1))
    assert any(event["kind"] == "batch.completed" for event in events)


async def watched_across_a_restart(
    settings: Settings, server: OwnValkey, script: Gated, batch_id: str
) -> str:
    """What `chiron watch` says of three runs that play 5 turns with Redis, 5 without it and 6 with it again."""
    command = [sys.executable, "-m", "chiron_api", "watch", batch_id, "--history", "--json"]
    env = environment(settings, **FAST)
    with forked_python.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as watching:
        replied = "select 1 from entries where kind = 'reply' having count(*) = %s"
        await asyncio.to_thread(wait_until, lambda: rows(settings, replied, [15]), what="some turns")
        server.kill()
        script.gates[5].set()
        await asyncio.to_thread(wait_until, lambda: rows(settings, replied, [30]), what="turns without Redis")
        server.start()
        script.gates[10].set()
        out, _ = await asyncio.to_thread(watching.communicate, None, 90)
    assert watching.returncode == 0
    return out


COLUMNS = ["uuid", "kwargs", "state", "received", "started", "runtime", "worker"]
QUERY = "draw=1&start=0&length=10&order[0][column]=0&order[0][dir]=desc&columns[0][data]=received"


async def test_flower_lists_runs_under_their_ids_with_role_subject_and_topic(settings: Settings) -> None:
    topic = 'tides, as sailors\' "tables" have them ' + 100 * "and so on "
    async with scripted_model(Gated()) as model:  # the run goes on until it was shown
        with flower(settings) as server, running(settings, **FAST, ANTHROPIC_BASE_URL=model.url):
            submitted = await asyncio.to_thread(submit, settings, topic)
            (run_id,) = submitted["run_ids"]

            def shown() -> Any:
                task = json.loads(server.request("/api/tasks")[1]).get(run_id)
                return task if task and task["state"] == "STARTED" else None

            task = await asyncio.to_thread(wait_until, shown, what="the run in Flower")
            _, page, _ = await asyncio.to_thread(server.request, "/tasks")
            _, text, _ = await asyncio.to_thread(server.request, f"/tasks/datatable?{QUERY}")
    assert (task["name"], task["worker"]) == ("chiron.run", "w1@test")
    assert len(task["kwargs"]) < 400
    assert [column for column in COLUMNS if f'data-column="{column}"' in page] == COLUMNS
    (row,) = json.loads(text)["data"]
    assert row["uuid"] == run_id
    assert row["kwargs"] == f"role: research · subject: Physics · topic: {topic[:200]}"
