"""How many turns one worker process plays at once: `uv run python benchmarks/concurrency.py [--json FILE]`.

A real `celery -A chiron_workers worker` plays 100 and 300 runs against a model with 500 ms latency, after a bare loop
has played as many conversations. What counts is the time in which all of them are under way.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import psutil
import psycopg
from bare import MODEL
from cpu import load_average
from look_up import create_table
from report import begin, table
from sampling import Sampler
from services import Services, model_server, services

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.db.queries import load
from chiron_workers.pubsub.signals import notify

SQL = load(__file__)
PATIENCE_S = 600.0
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Throughput:
    """What one process did while all runs were under way; CPU in milliseconds a turn."""

    turns_per_s: float
    client: float
    postgres: float
    server: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Asked:
    """One measurement. With all tools the model also asks for those that embed."""

    runs: int
    turns: int
    latency_s: float
    all_tools: bool


def bare(found: Services, server: psutil.Process, arguments: Asked) -> Throughput:
    command = [
        sys.executable,
        str(HERE / "bare.py"),
        "--runs",
        str(arguments.runs),
        "--latency-s",
        str(arguments.latency_s),
    ]
    command += ["--all-tools"] if arguments.all_tools else []
    with (found.folder / "bare.json").open("w+") as out, started(command, out) as process:
        with Sampler({"client": process, "postgres": found.postgres, "server": server}) as sampler:
            assert process.wait(PATIENCE_S) == 0
        out.seek(0)
        return throughput(json.load(out), sampler)


def pipeline(found: Services, server: psutil.Process, arguments: Asked) -> Throughput:
    command, slots = worker(f"bench{arguments.runs}", arguments)
    with (found.folder / "worker.log").open("w+") as log, started(command, log, **slots) as process:
        with Sampler({"client": process, "postgres": found.postgres, "server": server}) as sampler:
            batch_id = asyncio.run(enqueue(found, arguments))
            _wait_for_the_end(found, batch_id, process, log)
        with psycopg.connect(found.settings.database_url) as connection:
            turns = connection.execute(SQL["turns"], {"batch_id": batch_id}).fetchall()
        return throughput(turns, sampler)


def worker(name: str, arguments: Asked) -> tuple[list[str], dict[str, str]]:
    """The command of a worker for so many runs, and what it needs in its environment."""
    command = [sys.executable, "-m", "celery", "-A", "chiron_workers", "worker", "-c", str(arguments.runs)]
    command += ["-n", f"{name}@here", *([] if arguments.all_tools else ["-I", "only_look_up"])]
    return command, {"CHIRON_CONCURRENCY": str(arguments.runs)}


@contextmanager
def started(command: list[str], out: IO[str], **more: str) -> Iterator[psutil.Process]:
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | more | {"PYTHONPATH": path}
    with subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.terminate()


async def enqueue(found: Services, arguments: Asked) -> Any:
    """Submit a batch of runs and ring for them; its id."""
    runs = [
        NewRun(f"tides {n:04}", "research", "Physics", MODEL, arguments.turns) for n in range(arguments.runs)
    ]
    async with open_pool(found.settings.database_url, size=2) as pool:
        submitted = await submit(pool, NewBatch(runs, "Physics"))
    await notify(found.settings.redis_url, submitted.batch_id)
    return submitted.batch_id


def _wait_for_the_end(found: Services, batch_id: Any, process: psutil.Process, log: IO[str]) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    with psycopg.connect(found.settings.database_url, autocommit=True) as connection:
        while True:
            states = states_of(connection, batch_id)
            if states.keys() <= {"completed"}:
                return
            if "failed" in states or not process.is_running() or time.monotonic() > give_up_at:
                log.seek(0)
                raise SystemExit(f"The runs did not complete: {states}\n{log.read()[-2_000:]}")
            time.sleep(0.5)


def states_of(connection: psycopg.Connection[Any], batch_id: Any) -> dict[str, int]:
    """How many runs of a batch are in each state."""
    return dict(connection.execute(SQL["states"], {"batch_id": batch_id}).fetchall())


def throughput(turns: list[Any], sampler: Sampler) -> Throughput:
    """What happened between everybody's second turn and somebody's last."""
    of_run: dict[str, list[float]] = {}
    for run, at in turns:
        of_run.setdefault(run, []).append(at)
    start = max(sorted(times)[1] for times in of_run.values())
    end = min(max(times) for times in of_run.values())
    if end <= start:
        raise SystemExit("The runs were never all under way at once: ask for more --turns.")
    count = sum(start < at <= end for _, at in turns)
    ms = {name: sampler.cpu_s(name, start, end) * 1_000 / count for name in ("client", "postgres", "server")}
    return Throughput(count / (end - start), **ms, peak_mb=sampler.peak_mb("client"))


def measure(running: Services, arguments: Asked, *, repeats: int) -> dict[str, list[Throughput]]:
    """Bare loop and worker by turns, each in a process of its own."""
    found: dict[str, list[Throughput]] = {"bare": [], "pipeline": []}
    latency_ms = arguments.latency_s * 1_000
    for _ in range(repeats):
        with model_server(turns=arguments.turns, latency_ms=latency_ms, reply_chars=2_000) as server:
            found["bare"].append(bare(running, server, arguments))
            found["pipeline"].append(pipeline(running, server, arguments))
    return found


def shown(arguments: Asked, found: dict[str, list[Throughput]]) -> list[list[str]]:
    ideal = arguments.runs / arguments.latency_s
    rows = []
    for name, label in (("bare", "bare loop"), ("pipeline", "worker")):
        medians = {
            key: statistics.median(getattr(one, key) for one in found[name]) for key in Throughput.__slots__
        }
        of_ideal = f"{medians['turns_per_s'] / ideal:.2f}"
        cpu = [f"{medians[key]:.2f}" for key in ("client", "postgres", "server")]
        rows.append(
            [
                f"{label}, {arguments.runs} runs",
                f"{medians['turns_per_s']:.0f}",
                of_ideal,
                *cpu,
                f"{medians['peak_mb']:.0f}",
            ]
        )
    pairs = zip(found["pipeline"], found["bare"], strict=True)
    ratio = statistics.median(ours.turns_per_s / alone.turns_per_s for ours, alone in pairs)
    rows.append(["  of the bare loop", f"{ratio:.2f}", "", "", "", "", ""])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--turns", type=int, default=30, help="Turns of each run.")
    parser.add_argument("--latency-ms", type=float, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--all-tools", action="store_true", help="Offer every tool, also those that embed.")
    with begin(parser) as (arguments, report):
        rows = []
        with services() as running:
            create_table(running.settings.database_url)
            for runs in arguments.runs:
                one = Asked(runs, arguments.turns, arguments.latency_ms / 1_000, arguments.all_tools)
                found = measure(running, one, repeats=arguments.repeats)
                rows += shown(one, found)
                report.figures |= {f"{name} {runs}": [asdict(each) for each in found[name]] for name in found}
        columns = ["at once", "turns/s", "of ideal", "CPU ms a turn", "Postgres", "model server", "peak MB"]
        table(f"Concurrency, {arguments.latency_ms:g} ms a reply, load {load_average()}", columns, rows)


if __name__ == "__main__":
    main()
