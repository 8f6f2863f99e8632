"""The log of a run: its events from Postgres, and the lines of workers on this machine."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.otlp_collector import collector
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.worker_processes import chiron, rows, running, wait_until

from chiron_api.cli.display.run_log import WorkerFiles
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.ids import new_id
from chiron_workers.settings import Settings


def line(run_id: object, event: str, at: str = "2026-01-31T12:00:00Z", **more: Any) -> str:
    return (
        json.dumps({"run_id": str(run_id), "event": event, "level": "info", "timestamp": at, **more}) + "\n"
    )


def test_the_lines_of_a_run_are_found_in_all_files_of_workers_by_time(tmp_path: Path) -> None:
    run_id, other = new_id(), new_id()
    late, early = "2026-01-31T12:00:01Z", "2026-01-31T12:00:00Z"
    (tmp_path / "worker-1.log").write_text(line(run_id, "late", late) + line(other, "of another"))
    (tmp_path / "worker-2.log.1").write_text(f"Traceback about {run_id}\n{{\n" + line(run_id, "early", early))
    (tmp_path / "api.log").write_text(line(run_id, "not a worker's"))
    (tmp_path / "worker-3.log").write_text(
        line(other, "quotes", text=f"{run_id}") + f'{{"run_id": "{run_id}"}}\n'
    )
    files = WorkerFiles(tmp_path, run_id)
    assert [(each.source, each.fields["event"]) for each in files.new_lines()] == [
        ("worker-2", "early"),
        ("worker-1", "late"),
    ]
    assert files.new_lines() == []


def test_a_file_that_grows_and_is_rotated_loses_and_doubles_no_line(tmp_path: Path) -> None:
    run_id = new_id()
    log = tmp_path / "worker-1.log"
    files = WorkerFiles(tmp_path, run_id)
    assert files.new_lines() == []
    whole = line(run_id, "second")
    log.write_text(line(run_id, "first") + whole[:20])
    assert [each.fields["event"] for each in files.new_lines()] == ["first"]
    with log.open("a") as opened:
        opened.write(whole[20:])
    log.rename(tmp_path / "worker-1.log.1")
    log.write_text(line(run_id, "third"))
    assert sorted(each.fields["event"] for each in files.new_lines()) == ["second", "third"]


def test_without_files_there_are_no_lines(tmp_path: Path) -> None:
    assert WorkerFiles(tmp_path / "none", new_id()).new_lines() == []


def script(request: dict[str, Any]) -> Says:
    return (
        calls(call("vector_search", query="tides", subject_id="physics"))
        if turn(request) == 0
        else says("done")
    )


def event_kinds(log: str) -> list[str]:
    """The kinds of the events in what `chiron logs --json` printed, in its order."""
    entries = [json.loads(each) for each in log.splitlines()]
    return [entry["kind"] for entry in entries if entry["source"] == "event"]


@pytest.mark.acceptance
async def test_a_run_of_a_real_worker_is_traced_and_logged(settings: Settings) -> None:
    async with open_pool(settings.database_url, size=1) as pool, scripted_model(script) as model:
        run = NewRun("tides", "research", "Physics", "claude-opus-5-5", 5)
        (run_id,) = (await submit(pool, NewBatch([run], "Physics"))).run_ids
        (settings.home / "logs").mkdir()
        with collector() as traces:
            env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": model.url, "CHIRON_LOG_LEVEL": "debug"}
            tracing = {"OTEL_EXPORTER_OTLP_ENDPOINT": traces.url, "OTEL_BSP_SCHEDULE_DELAY": "60000"}
            with running(settings, name="logs/worker-1", **env, **tracing) as worker:
                # A worker tells the end of the batch, as the run's last event, some time after the end of the run:
                # here once this lock is gone.
                async with pool.connection() as connection, connection.transaction():
                    await connection.execute("select from batches for no key update")
                    following = asyncio.to_thread(chiron, settings, "logs", "--follow", "--json", str(run_id))
                    followed = await following
                done = "select 1 as n from batches where finished_at is not null"
                await asyncio.to_thread(wait_until, lambda: rows(settings, done), 60, "the end of the batch")
                assert await asyncio.to_thread(worker.stop) == 0
            names = sorted(span.name for span in traces.spans)
    assert names == [
        "chat claude-opus-5-5", "chat claude-opus-5-5", "execute_tool vector_search", "invoke_agent research",
    ]  # fmt: skip
    kinds = [row["kind"] for row in rows(settings, "select kind from events order by seq")]
    assert kinds[-2:] == ["run.completed", "batch.completed"]
    assert event_kinds(followed.stdout) == kinds[:-1], "it follows the run to its end, and no longer"
    assert event_kinds(chiron(settings, "logs", "--json", str(run_id)).stdout) == kinds
    shown = chiron(settings, "logs", str(run_id)).stdout
    assert "event     tool.called  call_id=" in shown
    assert "worker-1  debug model.replied  model=claude-opus-5-5 stop=tool_use" in shown
    assert "worker-1  debug tool.returned  name=vector_search" in shown
    lines = [json.loads(each) for each in chiron(settings, "logs", "--json", str(run_id)).stdout.splitlines()]
    own = [each for each in lines if each["source"] == "worker-1"]
    assert {each["run_id"] for each in own} == {str(run_id)}
    assert len({each["batch_id"] for each in own}) == 1


async def test_the_events_of_a_run_keep_their_order_where_the_clock_was_set_back(settings: Settings) -> None:
    async with open_pool(settings.database_url, size=1) as pool:
        run = NewRun("tides", "research", "Physics", "claude-opus-5-5", 5)
        (run_id,) = (await submit(pool, NewBatch([run], "Physics"))).run_ids
    kinds = ["run.queued", "run.started", "run.handed_back", "run.resumed"]
    rows(
        settings,
        """
        insert into events (run_id, seq, batch_id, kind, at, data)
        select id, n + 1, batch_id, (%s::text[])[n + 1], clock_timestamp() - n * interval '1 minute', '{}'
          from runs, generate_series(1, 3) n
        returning 1
        """,
        [kinds],
    )
    before, after = (
        (datetime.now(UTC) + distance).isoformat() for distance in (-timedelta(hours=1), timedelta(hours=1))
    )
    (settings.home / "logs").mkdir()
    lines = line(run_id, "first", before) + line(run_id, "last", after)
    (settings.home / "logs" / "worker-1.log").write_text(lines)
    shown = chiron(settings, "logs", "--json", str(run_id)).stdout
    assert event_kinds(shown) == kinds
    sources = [json.loads(each)["source"] for each in shown.splitlines()]
    assert sources == ["worker-1", *["event"] * 4, "worker-1"], "each worker's line stands by its time"


def test_a_batch_has_no_log_of_its_own(settings: Settings) -> None:
    submitted = chiron(settings, "submit", "tides", "--subject", "Physics", "--json")
    batch_id = json.loads(submitted.stdout)["batch_id"]
    done = chiron(settings, "logs", batch_id)
    assert (done.returncode, done.stderr) == (
        2,
        f"chiron: {batch_id} is a batch; name one of its runs. See the runs of the batch: `chiron show {batch_id}`\n",
    )
