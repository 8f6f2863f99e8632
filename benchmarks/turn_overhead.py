"""What a turn costs over a bare loop: `uv run python benchmarks/turn_overhead.py [--json FILE]`.

A run of 210 turns is played by a worker's host against a model server without latency, and the same conversation
by a bare loop, by turns. What is compared is the turn around the 10th and around the 200th.
"""

import argparse
import asyncio
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from multiprocessing import get_context
from uuid import UUID

import psutil
from bare import MODEL, converse, definitions, open_client
from cpu import Times, cpu_of, load_average, spent
from look_up import calls_told_to, create_table, offer_alone
from report import Figures, begin, table
from services import Services, model_server, services

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import settings
from chiron_workers.states import Outcome
from chiron_workers.telemetry.logs import log_to_stderr
from chiron_workers.worker.host import Host


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of one turn, or of one commit."""

    wall: float
    client: float
    postgres: float

    @property
    def cpu(self) -> float:
        return self.client + self.postgres


Costs = tuple[Cost, Cost]


@dataclass(slots=True)
class Laps:
    """The clocks at the ends of the windows; each call of the tool is one turn."""

    postgres: psutil.Process
    edges: frozenset[int]
    calls: int = 0
    seen: dict[int, tuple[float, float, Times]] = field(default_factory=dict)

    def count(self, _: str) -> None:
        self.calls += 1
        if self.calls in self.edges:
            self.seen[self.calls] = (time.perf_counter(), time.process_time(), cpu_of(self.postgres))

    def costs(self, turns: int) -> Costs:
        """Of the early turns and of the late ones."""
        early, late = windows(turns)
        return self._cost(early), self._cost(late)

    def _cost(self, window: tuple[int, int]) -> Cost:
        (wall, client, before), (wall_end, client_end, after) = (self.seen[edge] for edge in window)
        per_turn_ms = 1_000 / (window[1] - window[0])
        return Cost(
            (wall_end - wall) * per_turn_ms,
            (client_end - client) * per_turn_ms,
            spent(before, after) * per_turn_ms,
        )


def edges(turns: int) -> frozenset[int]:
    return frozenset(edge for window in windows(turns) for edge in window)


def windows(turns: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Twenty turns around the tenth, and the last twenty; fewer where a run is shorter."""
    width = min(20, turns // 2 - 1)
    return (1, 1 + width), (turns - 1 - width, turns - 1)  # the last turn calls no tool


def bare(postgres: int, turns: int) -> Costs:
    """Early and late turns of the bare loop."""
    laps = Laps(psutil.Process(postgres), edges(turns))
    asyncio.run(_play_bare(laps))
    return laps.costs(turns)


async def _play_bare(laps: Laps) -> None:
    async with open_client(connections=20) as client:
        tools = definitions(all_tools=False)
        await converse(client, "warming up", tools=tools)
        with calls_told_to(laps.count):
            await converse(client, "tides", tools=tools)


def pipeline(postgres: int, turns: int) -> Costs:
    """Early and late turns of a run that a worker's host plays."""
    laps = Laps(psutil.Process(postgres), edges(turns))
    play_pipeline(laps, turns)
    return laps.costs(turns)


def play_pipeline(laps: Laps, turns: int) -> None:
    """Play a run in this process after one that warms it up; the laps are told of its turns."""
    log_to_stderr("warning")
    offer_alone()
    host = Host(settings(), slots=settings().concurrency)
    host.start()
    try:
        warming_up, run_id = asyncio.run(_enqueue(turns=turns))
        assert host.play(warming_up) is Outcome.PLAYED
        with calls_told_to(laps.count):
            assert host.play(run_id) is Outcome.PLAYED
    finally:
        host.stop()


async def _enqueue(*, turns: int) -> list[UUID]:
    runs = [NewRun(topic, "research", "Physics", MODEL, turns) for topic in ("warming up", "tides")]
    async with open_pool(settings().database_url, size=2) as pool:
        run_ids = (await submit(pool, NewBatch(runs, "Physics"))).run_ids
        # The host plays them by hand here, as if their doorbells had come.
        await dispatch_next(pool, room=len(runs), redispatch_after=timedelta(hours=1), model_limits={})
        return run_ids


async def commit_floor(found: Services, *, commits: int) -> Cost:
    """One row a commit, on one connection, each waiting for the disk."""
    async with open_pool(found.settings.database_url, size=2) as pool, pool.connection() as connection:
        await connection.execute("create table if not exists floor (body text)")
        before = (time.perf_counter(), time.process_time(), cpu_of(found.postgres))
        for _ in range(commits):
            await connection.execute("insert into floor values (%s)", ("x" * 2_000,))
        after = (time.perf_counter(), time.process_time(), cpu_of(found.postgres))
    per_ms = 1_000 / commits
    return Cost(
        (after[0] - before[0]) * per_ms, (after[1] - before[1]) * per_ms, spent(before[2], after[2]) * per_ms
    )


def median(costs: list[Cost]) -> Cost:
    return Cost(
        *(statistics.median(getattr(cost, name) for cost in costs) for name in ("wall", "client", "postgres"))
    )


def over(costs: list[Cost], bare: list[Cost]) -> Cost:
    """The median of what each repeat cost more than the bare loop just before it."""
    pairs = list(zip(costs, bare, strict=True))
    return median([Cost(a.wall - b.wall, a.client - b.client, a.postgres - b.postgres) for a, b in pairs])


def measure(*, turns: int, repeats: int, reply_chars: int) -> Figures:
    """Every repeat in a new process, the bare loop and the pipeline by turns."""
    figures: dict[str, list[Cost]] = {"commit": []}
    # A process that played a run before has a larger heap to collect garbage in.
    fresh = ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1)
    with services() as found, model_server(turns=turns, latency_ms=0, reply_chars=reply_chars), fresh:
        create_table(found.settings.database_url)
        for _ in range(repeats):
            figures["commit"].append(asyncio.run(commit_floor(found, commits=200)))
            for name, play in (("bare", bare), ("pipeline", pipeline)):
                costs = fresh.submit(play, found.postgres.pid, turns).result()
                for label, cost in zip(("early", "late"), costs, strict=True):
                    figures.setdefault(f"{name} {label}", []).append(cost)
    return {name: [asdict(cost) for cost in costs] for name, costs in figures.items()}


def shown(figures: Figures, *, turns: int) -> list[list[str]]:
    costs = {name: [Cost(**cost) for cost in found] for name, found in figures.items()}
    rows = [_row("one commit (fsync on)", median(costs["commit"]))]
    for label, (start, end) in zip(("early", "late"), windows(turns), strict=True):
        alone, ours = costs[f"bare {label}"], costs[f"pipeline {label}"]
        rows.append(_row(f"bare loop, turns {start}-{end}", median(alone)))
        rows.append(_row(f"pipeline, turns {start}-{end}", median(ours)))
        rows.append(_row("  over the bare loop", over(ours, alone)))
    return rows


def _row(name: str, cost: Cost) -> list[str]:
    return [name, *(f"{value:.2f}" for value in (cost.wall, cost.client, cost.postgres, cost.cpu))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=210, help="Turns of the measured run.")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--reply-chars", type=int, default=2_000, help="Characters of prose in each reply.")
    with begin(parser) as (arguments, report):
        figures = measure(turns=arguments.turns, repeats=arguments.repeats, reply_chars=arguments.reply_chars)
        report.figures = figures
        columns = ["milliseconds a turn", "wall", "CPU client", "CPU Postgres", "CPU both"]
        table(
            f"Turn overhead, median of {arguments.repeats}, load {load_average()}",
            columns,
            shown(figures, turns=arguments.turns),
        )


if __name__ == "__main__":
    main()
