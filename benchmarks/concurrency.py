"""How many turns one worker process plays at once: `uv run python benchmarks/concurrency.py [--json FILE]`.

A real `celery -A chiron_workers worker` plays 100 and 300 runs against a model with 500 ms latency, after a bare loop
has played as many conversations: first in the cheapest turns, then in real ones. What counts is the time in which all of them are
under way.
"""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import IO, Any
from uuid import UUID, uuid4

import psutil
import psycopg
from bare import MODEL
from cpu import load_average
from figures import begin, table
from look_up import create_table
from sampling import Sampler
from services import Services, model_server, services
from work import ALL_TOOLS, CHEAPEST, REAL, REAL_WORK, Kind, turns_of

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.db.queries import load
from chiron_workers.pubsub.signals import notify

SQL = load(__file__)
PATIENCE_S = 600.0
REPLY_CHARS = 2_000  # of prose in each reply
HERE = Path(__file__).parent
SAME_WORK = "bare same work"
LABELS = {"bare": "bare loop", SAME_WORK: "bare loop with the same work", "pipeline": "worker"}
COLUMNS = ("at once", "turns/s", "of ideal", "CPU ms a turn", "Postgres", "model server", "site", "peak MB")
Servers = dict[str, psutil.Process]


@dataclass(frozen=True, slots=True)
class Throughput:
    """What one process did while all runs were under way; CPU in milliseconds a turn."""

    turns_per_s: float
    client: float
    postgres: float
    server: float
    peak_mb: float
    site: float = 0.0

    @property
    def cpu(self) -> float:
        """Milliseconds a turn, of the client and of Postgres."""
        return self.client + self.postgres


@dataclass(frozen=True, slots=True)
class Asked:
    """One measurement."""

    runs: int
    turns: int
    latency_s: float
    kind: Kind = CHEAPEST
    subjects: int = 1


def bare(found: Services, servers: Servers, arguments: Asked) -> Throughput:
    command = [
        sys.executable,
        str(HERE / "bare.py"),
        "--runs",
        str(arguments.runs),
        "--latency-s",
        str(arguments.latency_s),
        "--tag",
        uuid4().hex[:8],
    ]
    with (found.folder / "bare.json").open("w+") as out, started(command, out) as process:
        with Sampler({"client": process, "postgres": found.postgres} | servers) as sampler:
            assert process.wait(PATIENCE_S) == 0
        out.seek(0)
        return throughput(json.load(out), sampler)


def pipeline(found: Services, servers: Servers, arguments: Asked) -> Throughput:
    command, slots = worker(f"bench{arguments.runs}", arguments)
    with (found.folder / "worker.log").open("w+") as log, started(command, log, **slots) as process:
        with Sampler({"client": process, "postgres": found.postgres} | servers) as sampler:
            batch_id = asyncio.run(enqueue(found, arguments))
            wait_for_the_end(found, [batch_id], [process], log)
        with psycopg.connect(found.settings.database_url) as connection:
            turns = connection.execute(SQL["turns"], {"batch_id": batch_id}).fetchall()
        check_calls(found)
        return throughput(turns, sampler)


def check_calls(found: Services) -> None:
    """Raises SystemExit if a tool has failed: an error is answered sooner than what was asked for."""
    with psycopg.connect(found.settings.database_url) as connection:
        failed = connection.execute(SQL["failed_calls"]).fetchall()
    for name, count, message in failed:
        raise SystemExit(f"{count} calls of {name} failed: {message[:500]}")


def worker(name: str, arguments: Asked) -> tuple[list[str], dict[str, str]]:
    """The command of a worker for so many runs, and what it needs in its environment."""
    command = [sys.executable, "-m", "celery", "-A", "chiron_workers", "worker", "-c", str(arguments.runs)]
    command += ["-n", f"{name}@here", *([] if arguments.kind.has_all_tools else ["-I", "only_look_up"])]
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


async def enqueue(found: Services, arguments: Asked) -> UUID:
    """Submit a batch of runs and ring for them; its id."""
    turns_max = 2 * arguments.turns  # summaries of a window that is full come on top
    tag = uuid4().hex[:8]  # so that no run reads the pages of an earlier one
    runs = [
        NewRun(f"tides {tag} {n:04}", "research", f"Physics {n % arguments.subjects}", MODEL, turns_max)
        for n in range(arguments.runs)
    ]
    async with open_pool(found.settings.database_url, size=2) as pool:
        submitted = await submit(pool, NewBatch(runs, "Physics"))
    await notify(found.settings.redis_url, submitted.batch_id)
    return submitted.batch_id


def wait_for_the_end(
    found: Services, batch_ids: Sequence[UUID], workers: Sequence[psutil.Process], log: IO[str]
) -> None:
    """Wait until every run of some batches has completed. Raises SystemExit if one fails, a worker ends, or it takes too long."""
    give_up_at = time.monotonic() + PATIENCE_S
    with psycopg.connect(found.settings.database_url, autocommit=True) as connection:
        while True:
            states = {state for batch_id in batch_ids for state in states_of(connection, batch_id)}
            if states <= {"completed"}:
                return
            are_running = all(process.is_running() for process in workers)
            if "failed" in states or not are_running or time.monotonic() > give_up_at:
                log.seek(0)
                raise SystemExit(f"The runs did not complete: {sorted(states)}\n{log.read()[-2_000:]}")
            time.sleep(0.5)


def states_of(connection: psycopg.Connection[Any], batch_id: UUID) -> dict[str, int]:
    """How many runs of a batch are in each state."""
    return dict(connection.execute(SQL["states"], {"batch_id": batch_id}).fetchall())


def throughput(turns: list[Any], sampler: Sampler) -> Throughput:
    """What happened while all runs were under way."""
    start, end, count = under_way(turns)
    ms = {name: sampler.cpu_s(name, start, end) * 1_000 / count for name in sampler.names}
    return Throughput(count / (end - start), **ms, peak_mb=sampler.peak_mb("client"))


def under_way(turns: list[Any]) -> tuple[float, float, int]:
    """The time between everybody's second turn and somebody's last, from and to, and the turns in it."""
    of_run: dict[str, list[float]] = {}
    for run, at in turns:
        of_run.setdefault(run, []).append(at)
    start = max(sorted(times)[1] for times in of_run.values())
    end = min(max(times) for times in of_run.values())
    if end <= start:
        raise SystemExit("The runs were never all under way at once: ask for more --turns.")
    return start, end, sum(start < at <= end for _, at in turns)


def measure(running: Services, arguments: Asked, *, repeats: int) -> dict[str, list[Throughput]]:
    """Bare loop and worker by turns, each in a process of its own; of real turns also a bare loop that does the same work."""
    is_real = arguments.kind.is_real
    found: dict[str, list[Throughput]] = {"bare": [], **({SAME_WORK: []} if is_real else {}), "pipeline": []}
    latency_ms = arguments.latency_s * 1_000
    for _ in range(repeats):
        with model_server(
            turns=arguments.turns, latency_ms=latency_ms, reply_chars=REPLY_CHARS, kind=arguments.kind
        ) as servers:
            found["bare"].append(bare(running, servers, arguments))
            if is_real:
                with turns_of(REAL_WORK):
                    found[SAME_WORK].append(bare(running, servers, arguments))
            found["pipeline"].append(pipeline(running, servers, arguments))
    return found


def shown(arguments: Asked, found: dict[str, list[Throughput]]) -> list[list[str]]:
    """A row for each loop, and one for what the worker makes of the turns of each bare loop."""
    ideal, rows = arguments.runs / arguments.latency_s, []
    for name, repeated in found.items():
        medians = {key: median(getattr(one, key) for one in repeated) for key in Throughput.__slots__}
        cpu = [f"{medians[key]:.2f}" for key in ("client", "postgres", "server", "site")]
        of_ideal = f"{medians['turns_per_s'] / ideal:.2f}"
        label = f"{LABELS[name]}, {arguments.runs} runs, {arguments.kind.name} turn"
        rows.append([label, f"{medians['turns_per_s']:.0f}", of_ideal, *cpu, f"{medians['peak_mb']:.0f}"])
    for name in list(found)[:-1]:
        pairs = list(zip(found["pipeline"], found[name], strict=True))
        turns = median(ours.turns_per_s / alone.turns_per_s for ours, alone in pairs)
        cpu_ratio = median(ours.cpu / alone.cpu for ours, alone in pairs)
        rows.append([f"  of the {LABELS[name]}", f"{turns:.2f}", "", f"{cpu_ratio:.2f}", "", "", "", ""])
    return rows


def figure_name(name: str, arguments: Asked) -> str:
    """What a measurement is called in the file of --json: `bare 300`, of real turns `bare real 300`."""
    return f"{name} {'real ' if arguments.kind.is_real else ''}{arguments.runs}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 300])
    parser.add_argument("--turns", type=int, default=30, help="Turns of each run.")
    parser.add_argument("--latency-ms", type=float, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--turn", nargs="+", choices=("cheapest", "real"), default=("cheapest", "real"))
    parser.add_argument("--real-turns", type=int, default=12, help="Turns of each run of real turns.")
    parser.add_argument("--real-repeats", type=int, default=1)
    parser.add_argument("--subjects", type=int, default=1, help="That the facts of real turns go to.")
    parser.add_argument(
        "--all-tools",
        action="store_true",
        help="In place of the cheapest turn, offer every tool, also those that embed.",
    )
    with begin(parser) as (arguments, report):
        latency_s, rows = arguments.latency_ms / 1_000, []
        plans = {
            "cheapest": (ALL_TOOLS if arguments.all_tools else CHEAPEST, arguments.turns, arguments.repeats),
            "real": (REAL, arguments.real_turns, arguments.real_repeats),
        }
        with services() as running:
            create_table(running.settings.database_url)
            for name, runs in itertools.product(arguments.turn, arguments.runs):
                kind, turns, repeats = plans[name]
                one = Asked(runs, turns, latency_s, kind, arguments.subjects)
                found = measure(running, one, repeats=repeats)
                rows += shown(one, found)
                report.figures |= {
                    figure_name(key, one): [asdict(each) for each in found[key]] for key in found
                }
        table(f"Concurrency, {arguments.latency_ms:g} ms a reply, load {load_average()}", COLUMNS, rows)


if __name__ == "__main__":
    main()
