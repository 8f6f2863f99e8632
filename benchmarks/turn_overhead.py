"""What a turn costs over a bare loop: `uv run python benchmarks/turn_overhead.py [--json FILE]`.

A run of 210 turns is played by a worker's host against a model server without latency, and the same conversation
by a bare loop, by turns. What is compared is the turn around the 10th and around the 200th: first of the cheapest turns, then of
real ones.
"""

import argparse
import asyncio
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from multiprocessing import get_context
from typing import Protocol
from uuid import UUID, uuid4

import psutil
import psycopg
import uvloop
from bare import MODEL, opened
from cpu import Times, cpu_of, load_average, spent
from figures import Figures, begin, table
from look_up import calls_told_to, create_table
from sandbox_job import read_timed
from scripted_site import page
from services import Services, model_server, services
from work import CHEAPEST, REAL, REAL_WORK, STREAM, Kind, offer, turns_of

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.db.queries import load
from chiron_workers.documents.sandbox.sandbox import run_sandboxed
from chiron_workers.settings import settings
from chiron_workers.states import Outcome
from chiron_workers.telemetry.logs import log_to_stderr
from chiron_workers.web.download import Download
from chiron_workers.web.page import PARSE_LIMITS
from chiron_workers.worker.host import Host

SQL = load(__file__)
COLUMNS = ("milliseconds a turn", "wall", "CPU client", "CPU Postgres", "CPU both", "times")
SAME_WORK = "bare same work"
LABELS = {"bare": "bare loop", SAME_WORK: "bare loop with the same work", "pipeline": "pipeline"}


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


class Counter(Protocol):
    """Counts turns."""

    def count(self, query: str, /) -> None: ...


@dataclass(slots=True)
class Laps:
    """The clocks at the ends of the windows; each call of the tool is one turn."""

    postgres: psutil.Process
    edges: frozenset[int]
    calls: int = 0
    seen: dict[int, tuple[float, Times, Times]] = field(default_factory=dict)

    def count(self, _: str) -> None:
        self.calls += 1
        if self.calls in self.edges:
            self.seen[self.calls] = (time.perf_counter(), cpu_of(psutil.Process()), cpu_of(self.postgres))

    def costs(self, turns: int) -> Costs:
        """Of the early turns and of the late ones."""
        early, late = windows(turns)
        return self._cost(early), self._cost(late)

    def _cost(self, window: tuple[int, int]) -> Cost:
        (wall, client, before), (wall_end, client_end, after) = (self.seen[edge] for edge in window)
        per_turn_ms = 1_000 / (window[1] - window[0])
        return Cost(
            (wall_end - wall) * per_turn_ms,
            spent(client, client_end) * per_turn_ms,
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
    uvloop.run(_play_bare(laps))
    return laps.costs(turns)


async def _play_bare(laps: Laps) -> None:
    async with opened(runs=2) as play:
        warming_up, topic = topics()
        await play(warming_up)
        with calls_told_to(laps.count):
            await play(topic)


def pipeline(postgres: int, turns: int) -> Costs:
    """Early and late turns of a run that a worker's host plays."""
    laps = Laps(psutil.Process(postgres), edges(turns))
    play_pipeline(laps, turns)
    return laps.costs(turns)


def play_pipeline(laps: Counter, turns: int) -> None:
    """Play a run in this process after one that warms it up; the laps are told of its turns."""
    log_to_stderr("warning")
    offer()
    host = Host(settings(), slots=settings().concurrency)
    host.start()
    try:
        warming_up, run_id = asyncio.run(_enqueue(turns=turns))
        _play(host, warming_up)
        with calls_told_to(laps.count):
            _play(host, run_id)
    finally:
        host.stop()


def _play(host: Host, run_id: UUID) -> None:
    """Play a run to its end. Raises SystemExit with its error if it does not complete."""
    outcome = host.play(run_id)
    with psycopg.connect(settings().database_url) as connection:
        row = connection.execute(SQL["ending"], {"run_id": run_id}).fetchone()
    if outcome is not Outcome.PLAYED or row is None or row[0] != "completed":
        raise SystemExit(f"A run of the benchmark did not complete: {outcome}, {row}")


async def _enqueue(*, turns: int) -> list[UUID]:
    turns_max = 2 * turns  # summaries of a window that is full come on top
    runs = [NewRun(topic, "research", "Physics", MODEL, turns_max) for topic in topics()]
    async with open_pool(settings().database_url, size=2) as pool:
        run_ids = (await submit(pool, NewBatch(runs, "Physics"))).run_ids
        # The host plays them by hand here, as if their doorbells had come.
        await dispatch_next(
            pool, room=lambda: len(runs), redispatch_after=timedelta(hours=1), model_limits={}
        )
        return run_ids


def topics() -> tuple[str, str]:
    """Of the run that warms up and of the one that is measured; another process has others, so it reads other pages."""
    tag = uuid4().hex[:8]
    return f"warming up {tag}", f"tides {tag}"


async def commit_floor(found: Services, *, commits: int) -> Cost:
    """One row a commit, on one connection, each waiting for the disk."""
    async with open_pool(found.settings.database_url, size=2) as pool, pool.connection() as connection:
        await connection.execute("create table if not exists floor (body text)")
        wall, before = time.perf_counter(), (cpu_of(psutil.Process()), cpu_of(found.postgres))
        for _ in range(commits):
            await connection.execute("insert into floor values (%s)", ("x" * 2_000,))
        wall_end, after = time.perf_counter(), (cpu_of(psutil.Process()), cpu_of(found.postgres))
    per_ms = 1_000 / commits
    client, postgres = (spent(then, now) * per_ms for then, now in zip(before, after, strict=True))
    return Cost((wall_end - wall) * per_ms, client, postgres)


def median(costs: list[Cost]) -> Cost:
    return Cost(
        *(statistics.median(getattr(cost, name) for cost in costs) for name in ("wall", "client", "postgres"))
    )


def over(costs: list[Cost], bare: list[Cost]) -> Cost:
    """The median of what each repeat cost more than the bare loop just before it."""
    pairs = list(zip(costs, bare, strict=True))
    return median([Cost(a.wall - b.wall, a.client - b.client, a.postgres - b.postgres) for a, b in pairs])


def measure(found: Services, kind: Kind, *, turns: int, repeats: int, reply_chars: int) -> Figures:
    """Every repeat in a new process, the bare loops and the pipeline by turns."""
    figures: dict[str, list[Cost]] = {}
    # A process that played a run before has a larger heap to collect garbage in.
    fresh = ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1)
    with model_server(turns=turns, latency_ms=0, reply_chars=reply_chars, kind=kind), fresh:
        for _ in range(repeats):
            for name, played in loops_of(kind).items():
                play = pipeline if name == "pipeline" else bare
                with turns_of(played):
                    costs = fresh.submit(play, found.postgres.pid, turns).result()
                for when, cost in zip(("early", "late"), costs, strict=True):
                    figures.setdefault(figure_name(name, kind, when), []).append(cost)
    return {name: [asdict(cost) for cost in costs] for name, costs in figures.items()}


def loops_of(kind: Kind) -> dict[str, Kind]:
    """The loops that play turns of a kind, with the kind as each of them plays it; the pipeline is the last."""
    return {"bare": kind} | ({SAME_WORK: REAL_WORK} if kind.is_real else {}) | {"pipeline": kind}


def figure_name(name: str, kind: Kind, when: str) -> str:
    """What a cost is called in the file of --json: `bare early`, of real turns `bare real early`."""
    return f"{name} {'real ' if kind.is_real else ''}{when}"


def shown(figures: Figures, kind: Kind, *, turns: int) -> list[list[str]]:
    """A row for each loop early and late, and what the pipeline costs more than each bare loop."""
    rows = []
    for when, (start, end) in zip(("early", "late"), windows(turns), strict=True):
        costs = {
            name: [Cost(**cost) for cost in figures[figure_name(name, kind, when)]] for name in loops_of(kind)
        }
        rows += [_row(f"{LABELS[name]}, turns {start}-{end}", median(found)) for name, found in costs.items()]
        ours = costs.pop("pipeline")
        for name, alone in costs.items():
            times = statistics.median(a.cpu / b.cpu for a, b in zip(ours, alone, strict=True))
            rows.append([*_row(f"  over the {LABELS[name]}", over(ours, alone)), f"{times:.2f}"])
    return rows


def _row(name: str, cost: Cost) -> list[str]:
    return [name, *(f"{value:.2f}" for value in (cost.wall, cost.client, cost.postgres, cost.cpu))]


async def sandbox_cost(*, pages: int) -> Cost:
    """What the process costs that parses a page of a real turn; it ends with the page, so no other count has it."""
    costs = []
    for n in range(pages):
        body = page(f"/sandbox/{n}").encode()
        download = Download("http://127.0.0.1/page", "text/html", "utf-8", body)
        began = time.perf_counter()
        client = await run_sandboxed(partial(read_timed, download), limits=PARSE_LIMITS)
        costs.append(Cost((time.perf_counter() - began) * 1_000, client, 0.0))
    return median(costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=210, help="Turns of the measured run.")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--reply-chars", type=int, default=2_000, help="Characters of prose in each reply.")
    parser.add_argument("--turn", nargs="+", choices=("cheapest", "real"), default=("cheapest", "real"))
    parser.add_argument("--real-turns", type=int, default=110, help="Turns of the run of real turns.")
    parser.add_argument("--real-repeats", type=int, default=3)
    parser.add_argument(
        "--all-tools",
        action="store_true",
        help="In place of the cheapest turn, offer every tool, and have the stream come in deltas of 16 characters.",
    )
    with begin(parser) as (arguments, report), services() as found:
        plans = {
            "cheapest": (
                STREAM if arguments.all_tools else CHEAPEST,
                arguments.turns,
                arguments.repeats,
            ),
            "real": (REAL, arguments.real_turns, arguments.real_repeats),
        }
        create_table(found.settings.database_url)
        floor = [asyncio.run(commit_floor(found, commits=200)) for _ in range(arguments.repeats)]
        report.figures["commit"] = [asdict(cost) for cost in floor]
        rows = [_row("one commit (fsync on)", median(floor))]
        for name in arguments.turn:
            kind, turns, repeats = plans[name]
            report.figures |= measure(
                found, kind, turns=turns, repeats=repeats, reply_chars=arguments.reply_chars
            )
            rows.append([f"{kind.name} turn, median of {repeats}"])
            rows += shown(report.figures, kind, turns=turns)
        if "real" in arguments.turn:
            sandbox = asyncio.run(sandbox_cost(pages=20))
            report.figures["sandbox"] = [asdict(sandbox)]
            rows.append(_row("  and the process that parses its page", sandbox))
        table(f"Turn overhead, load {load_average()}", COLUMNS, rows)


if __name__ == "__main__":
    main()
