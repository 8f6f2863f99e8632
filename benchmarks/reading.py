"""What reading back takes: `uv run python benchmarks/reading.py [--runs N] [--events N] [--facts N] [--repeats N] [--json FILE]`.

A finished batch of many runs, each with many events, and what each command and each answer over HTTP takes to show it: seconds,
CPU and peak memory of a process of its own. `--help` of every command beside it says what a command takes to start at all.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import httpx2
from cpu import load_average
from figures import begin, table
from page import api, wait_for
from services import Services, services

from chiron_api.cli.commands import SUMMARIES
from chiron_api.local_stack.access import api_key
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.queries import load
from chiron_workers.ids import new_id
from chiron_workers.runs import partitions

SQL = load(__file__)
USAGE = Path(__file__).with_name("command_usage.py")
COLUMNS = ("wall_s", "first_s", "cpu_s", "peak_mb", "kb")
INSERTED_ROWS = 100_000  # events in one statement


@dataclass(frozen=True, slots=True)
class World:
    """What was written: the batch and its first run."""

    batch_id: UUID
    run_id: UUID

    def commands(self) -> list[list[str]]:
        """The commands that read it."""
        batch, run = str(self.batch_id), str(self.run_id)
        return [
            ["list"], ["list", "--json"], ["show", batch], ["show", batch, "--json"], ["show", run],
            ["results", batch], ["results", batch, "--json"], ["report", batch], ["report", batch, "--format", "json"],
            ["watch", batch], ["watch", batch, "--json"], ["watch", batch, "--history", "--json"], ["watch", run],
        ]  # fmt: skip

    def paths(self) -> list[str]:
        """The addresses of the HTTP API that read it."""
        batch, run = f"/v1/batches/{self.batch_id}", f"/v1/runs/{self.run_id}"
        return [
            "/v1/batches", batch, f"{batch}/results", f"{batch}/events", f"{batch}/events?history=true", run, f"{run}/events",
            f"/v1/runs?batch={self.batch_id}", f"/batches/{self.batch_id}", f"/batches/{self.batch_id}/report",
        ]  # fmt: skip


async def make_world(pool: Pool, *, runs: int, events: int, facts: int) -> World:
    """Write a batch that is complete: so many runs, events and facts."""
    batch_id = new_id()
    run_ids, fact_ids = [new_id() for _ in range(runs)], [new_id() for _ in range(facts)]
    await partitions.ensure(pool, [batch_id])
    each = max(2, events // runs)
    ids = {"batch_id": batch_id, "run_ids": run_ids, "fact_ids": fact_ids, "runs": runs, "each": each}
    for query in ("subject", "batch", "runs", "facts"):
        async with pool.connection() as connection:
            await connection.execute(SQL[query], ids)
    step = max(1, INSERTED_ROWS // each)
    for start in range(0, runs, step):
        async with pool.connection() as connection:
            await connection.execute(SQL["events"], ids | {"run_ids": run_ids[start : start + step]})
    async with pool.connection() as connection:
        await connection.execute(SQL["end"], {"run_id": run_ids[-1]})
        await connection.execute("vacuum analyze")
    return World(batch_id, run_ids[0])


def usage_of(arguments: Sequence[str], *, repeats: int) -> list[dict[str, Any]]:
    """What a command took, each time."""
    command = [sys.executable, "-S", str(USAGE), sys.executable, "-m", "chiron_api", *arguments]
    # Whoever calls a command a second time has its bytecode.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)
        for _ in range(repeats + 1)
    ][1:]
    assert all(figures["exit"] == 0 for figures in times), f"chiron {' '.join(arguments)} failed"
    return times


def answer_of(client: httpx2.Client, path: str) -> dict[str, Any]:
    """What an answer took, until its first bytes and until its end."""
    began, first_s, size = time.perf_counter(), 0.0, 0
    with client.stream("GET", path) as answer:
        assert answer.status_code == 200, f"{path}: {answer.status_code}"
        for piece in answer.iter_raw():
            first_s = first_s or time.perf_counter() - began
            size += len(piece)
    wall_s = time.perf_counter() - began
    return {"wall_s": round(wall_s, 3), "first_s": round(first_s, 3), "kb": round(size / 1024, 1)}


def rows_of(figures: dict[str, list[dict[str, Any]]], columns: Sequence[str]) -> list[list[str]]:
    """Rows of a table: what was measured and the median of each column."""
    return [
        [name, *(f"{median(each[column] for each in times):,.2f}" for column in columns)]
        for name, times in figures.items()
    ]


async def _prepare(at: Services, **size: int) -> World:
    async with open_pool(at.settings.database_url, size=2) as pool:
        return await make_world(pool, **size)


def measure_answers(at: Services, world: World, *, repeats: int) -> dict[str, list[dict[str, Any]]]:
    """What each answer took, in a server that has answered each before."""
    with api(at) as url:
        wait_for(url)
        headers = {"Authorization": f"Bearer {api_key(at.settings)}"}
        with httpx2.Client(base_url=url, headers=headers, timeout=120) as client:
            return {
                f"GET {_named(path, world)}": [answer_of(client, path) for _ in range(repeats + 1)][1:]
                for path in world.paths()
            }


def _named(words: str, world: World) -> str:
    return words.replace(str(world.batch_id), "BATCH").replace(str(world.run_id), "RUN")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=400_000, help="Of all runs together.")
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--starts",
        nargs="+",
        choices=SUMMARIES,
        default=tuple(SUMMARIES),
        help="Commands whose start is measured.",
    )
    with begin(parser) as (arguments, report), services() as at:
        world = asyncio.run(_prepare(at, runs=arguments.runs, events=arguments.events, facts=arguments.facts))
        repeats = arguments.repeats
        starts = {f"{name} --help": usage_of([name, "--help"], repeats=repeats) for name in arguments.starts}
        commands = {
            _named(" ".join(words), world): usage_of(words, repeats=repeats) for words in world.commands()
        }
        answers = measure_answers(at, world, repeats=repeats)
        report.figures.update(starts | commands | answers)
        columns = ("cpu_s", "peak_mb")
        table(f"Starting a command, load {load_average()}", ["command", *columns], rows_of(starts, columns))
        table(f"Commands, load {load_average()}", ["command", *COLUMNS], rows_of(commands, COLUMNS))
        parts = ("wall_s", "first_s", "kb")
        table(f"Over HTTP, load {load_average()}", ["request", *parts], rows_of(answers, parts))


if __name__ == "__main__":
    main()
