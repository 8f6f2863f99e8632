"""What Prometheus is told, held against the rows of runs that real workers have played."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.worker_processes import Worker, rows, running, wait_until

from chiron_api.http import exposition
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

MODEL = "claude-opus-5-5"
USAGE = {
    "input_tokens": 100,
    "output_tokens": 10,
    "cache_read_input_tokens": 1_000,
    "cache_creation_input_tokens": 50,
}
TOKENS = "gen_ai_client_inference_usage_{kind}_tokens_total"
# A machine that is busy enough holds a worker up for more than ten seconds: it would lose its lease, and count that.
WORKER = {"CHIRON_LEASE_S": "120", "CHIRON_RENEWAL_S": "0.5", "ANTHROPIC_API_KEY": "test"}
SHORT_INTERVALS = """
from chiron_workers.worker import duties

duties.SAVE_INTERVAL_S = 0.1
"""


def research(request: dict[str, Any]) -> Says:
    """A good tool call, one with wrong arguments, one of a tool that nobody has, and the answer."""
    steps = (
        call("save_learning_goal", subject_id="physics", purpose_statement="tides"),
        call("save_learning_goal", nonsense="tides"),
        call("walk_the_dog", far=True),
    )
    done = turn(request)
    reply = calls(steps[done]) if done < len(steps) else says("done")
    return Says(reply.blocks, reply.stop, USAGE)


class Scrape:
    """The samples of one answer."""

    def __init__(self, text: str) -> None:
        self.samples = [
            sample for family in text_string_to_metric_families(text) for sample in family.samples
        ]

    def value(self, name: str, **labels: str) -> float:
        """The sum of the samples of a name that have these labels."""
        return sum(sample.value for sample in self._matching(name, labels))

    def _matching(self, name: str, labels: dict[str, str]) -> Iterator[Sample]:
        for sample in self.samples:
            if sample.name == name and labels.items() <= sample.labels.items():
                yield sample


async def scrape(client: httpx2.AsyncClient) -> Scrape:
    answer = await client.get("/metrics")
    assert answer.status_code == 200, answer.text
    return Scrape(answer.text)


async def enqueue(settings: Settings, *topics: str) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        runs = [NewRun(topic, "research", "Physics", MODEL, 50) for topic in topics]
        await submit(pool, NewBatch(runs, "Physics"))


async def until(condition: Callable[[], object], what: str) -> None:
    await asyncio.to_thread(wait_until, condition, what=what)


async def finished(settings: Settings, count: int) -> None:
    query = "select 1 from runs where state = 'completed'"
    await until(lambda: len(rows(settings, query)) == count, f"{count} runs completed")


def saves_often(settings: Settings) -> tuple[str, str]:
    """The options of a worker that saves its metrics often: it imports a module of its folder."""
    (settings.home / "short_intervals.py").write_text(SHORT_INTERVALS)
    return "-I", "short_intervals"


async def stop(worker: Worker) -> None:
    assert await asyncio.to_thread(worker.stop) == 0


def assert_equal_to_rows(settings: Settings, figures: Scrape) -> None:
    """Tokens, USD, turns and tool errors are what the rows of all runs say."""
    [sums] = rows(
        settings,
        "select sum(turns) as turns, sum(spent_usd) as usd, sum(output_tokens) as output,"
        " sum(cache_read_tokens) as read, sum(cache_write_tokens) as written,"
        " sum(input_tokens + cache_read_tokens + cache_write_tokens) as input from runs",
    )
    assert figures.value("chiron_turns_total") == sums["turns"]
    assert figures.value("chiron_reply_commit_duration_seconds_count") == sums["turns"]
    assert figures.value("chiron_spent_usd_total", gen_ai_request_model=MODEL) == pytest.approx(
        float(sums["usd"])
    )
    kinds = {"input": "input", "output": "output", "cache_read_input": "read", "cache_write_input": "written"}
    for kind, column in kinds.items():
        assert figures.value(TOKENS.format(kind=kind), gen_ai_request_model=MODEL) == sums[column] > 0
    [results] = rows(
        settings, "select count(*) as calls, count(*) filter (where is_error) as errors from tool_results"
    )
    assert figures.value("gen_ai_execute_tool_duration_seconds_count") == results["calls"]
    assert figures.value("chiron_tool_errors_total") == results["errors"] > 0
    assert (
        figures.value("gen_ai_execute_tool_duration_seconds_count", error_type="tool_error")
        == results["errors"]
    )


async def test_the_numbers_are_those_of_the_runs_rows(settings: Settings, client: httpx2.AsyncClient) -> None:
    await enqueue(settings, "tides")
    async with scripted_model(research) as model:
        with running(settings, **WORKER, ANTHROPIC_BASE_URL=model.url) as worker:
            await finished(settings, 1)
            await stop(worker)
    figures = await scrape(client)
    assert_equal_to_rows(settings, figures)
    assert figures.value("chiron_turns_total") == 4
    assert figures.value("chiron_tool_errors_total", gen_ai_tool_name="save_learning_goal") == 1
    assert figures.value("chiron_tool_errors_total", gen_ai_tool_name="_OTHER") == 1
    assert figures.value("gen_ai_client_inference_duration_seconds_count", error_type="") == 4
    assert figures.value("chiron_event_lag_seconds_count") > 4
    assert figures.value("chiron_runs", state="completed") == 1
    assert figures.value("chiron_runs") == 1
    assert figures.value("chiron_day_spent_usd") == pytest.approx(figures.value("chiron_spent_usd_total"))
    assert figures.value("chiron_workers") == figures.value("chiron_slots") == 0
    assert figures.value("chiron_lease_losses_total") == 0
    assert not any("tides" in str(sample) for sample in figures.samples)


async def test_workers_add_up_and_what_a_killed_worker_counted_stays(
    settings: Settings, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exposition, "KEPT_MIN_S", 0.1)
    saved = "select sum((counters ->> '[\"chiron_turns_total\", []]')::float) as turns from worker_metrics"
    await enqueue(settings, "tides")
    async with scripted_model(research) as model:
        env = {**WORKER, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, *saves_often(settings), name="w1", **env) as first:
            await finished(settings, 1)
            await until(lambda: rows(settings, saved)[0]["turns"] == 4, "the first worker's save")
            first.kill()
        rows(settings, "update worker_metrics set saved_at = now() - interval '1 hour' returning 1")
        await enqueue(settings, "waves")
        with running(settings, *saves_often(settings), "-c", "7", name="w2", **env) as second:
            await finished(settings, 2)
            while not (living := await scrape(client)).value("chiron_workers"):  # until it has saved
                await asyncio.sleep(0.01)
            await stop(second)
    assert living.value("chiron_workers") == 1
    assert living.value("chiron_slots") == 7
    rows(settings, "update worker_metrics set saved_at = now() - interval '2 days' returning 1")
    while (figures := await scrape(client)).value("chiron_workers"):  # an answer is kept for some seconds
        await asyncio.sleep(0.01)
    assert_equal_to_rows(settings, figures)
    assert figures.value("chiron_turns_total") == 8


async def test_a_lease_that_is_lost_is_counted(settings: Settings, client: httpx2.AsyncClient) -> None:
    is_lost = asyncio.Event()

    async def script(request: dict[str, Any]) -> Says:
        await is_lost.wait()
        return research(request)

    await enqueue(settings, "tides")
    async with scripted_model(script) as model:
        with running(settings, **WORKER, ANTHROPIC_BASE_URL=model.url) as worker:
            take = "update runs set lease = lease + 1 where state = 'running' returning 1"
            await until(lambda: rows(settings, take), "the run is leased")
            is_lost.set()
            await stop(worker)
    figures = await scrape(client)
    assert figures.value("chiron_lease_losses_total") == 1
    assert figures.value("chiron_runs", state="running") == 1


async def test_the_age_of_the_oldest_run_is_the_time_since_it_could_have_begun(
    settings: Settings, client: httpx2.AsyncClient
) -> None:
    await enqueue(settings, "tides", "waves", "winds")
    rows(
        settings,
        "update runs set ready_at = now() + case topic when 'tides' then interval '-1 hour'"
        " else interval '1 day' end returning 1",
    )
    figures = await scrape(client)
    assert 3_600 <= figures.value("chiron_oldest_queued_run_age_seconds") < 3_700
    assert figures.value("chiron_runs", state="queued") == 3
    assert figures.value("chiron_turns_total") == 0


async def test_only_who_may_read_sees_the_metrics(settings: Settings, client: httpx2.AsyncClient) -> None:
    del client.headers["Authorization"]
    assert (await client.get("/metrics")).status_code == 401
