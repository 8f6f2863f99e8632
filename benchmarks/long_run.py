"""Whether turn 1,000 costs what turn 10 does: `uv run python benchmarks/long_run.py [--turns 1010] [--json FILE]`.

A run at zero latency is played by a worker's host, in a context window so small that it begins anew many times. What is compared
are parts of the run, each of several windows: time, CPU and memory of the process, and CPU of Postgres.
"""

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from multiprocessing import get_context

import psutil
import psycopg
from bare import MODEL
from cpu import Times, cpu_of, load_average, spent
from figures import begin, table
from look_up import create_table
from services import model_server, services, variables
from turn_overhead import play_pipeline
from work import CHEAPEST, REAL

from chiron_workers.db.queries import load
from chiron_workers.settings import settings

SQL = load(__file__)
LOOK_EVERY = 10  # turns
PARTS = 5
COLUMNS = ("turns", "wall ms a turn", "CPU client", "CPU Postgres", "memory at its end, MB")


@dataclass(frozen=True, slots=True)
class Look:
    """The clocks and the memory at one turn."""

    turn: int
    wall_s: float
    client: Times
    postgres: Times
    mb: float


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the run: milliseconds a turn, and the memory at its end."""

    first: int
    last: int
    wall: float
    client: float
    postgres: float
    mb: float


@dataclass(slots=True)
class Looks:
    """Looks at the clocks now and then; each call of a tool is one turn."""

    postgres: psutil.Process
    process: psutil.Process = field(default_factory=psutil.Process)
    turn: int = 0
    looks: list[Look] = field(default_factory=list)

    def count(self, _: str) -> None:
        self.turn += 1
        if self.turn % LOOK_EVERY == 0:
            clocks = time.perf_counter(), cpu_of(self.process), cpu_of(self.postgres)
            self.looks.append(Look(self.turn, *clocks, mb=self.process.memory_info().rss / 1e6))

    def parts(self) -> list[Part]:
        """The run in parts of as many turns each."""
        last = len(self.looks) - 1
        parts = min(PARTS, last)
        places = [n * last // parts for n in range(parts + 1)]
        edges = [self.looks[place] for place in places]
        return [_part(start, end) for start, end in pairwise(edges)]


def _part(start: Look, end: Look) -> Part:
    each_ms = 1_000 / (end.turn - start.turn)
    return Part(
        start.turn,
        end.turn,
        (end.wall_s - start.wall_s) * each_ms,
        spent(start.client, end.client) * each_ms,
        spent(start.postgres, end.postgres) * each_ms,
        end.mb,
    )


def play(postgres: int, turns: int) -> tuple[list[Part], int]:
    """The parts of a run in this process, and how often its context window began anew."""
    looks = Looks(psutil.Process(postgres))
    play_pipeline(looks, turns)
    with psycopg.connect(settings().database_url) as connection:
        row = connection.execute(SQL["epochs"]).fetchone()
    assert row is not None
    return looks.parts(), int(row[0])


def _row(part: Part) -> list[str]:
    times = [f"{value:.2f}" for value in (part.wall, part.client, part.postgres)]
    return [f"{part.first}-{part.last}", *times, f"{part.mb:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1_010)
    parser.add_argument("--context-tokens", type=int, default=40_000, help="Of the window, reply included.")
    parser.add_argument("--turn", choices=("cheapest", "real"), default="cheapest")
    with begin(parser) as (arguments, report), services() as found:
        create_table(found.settings.database_url)
        window = {"CHIRON_CONTEXT_TOKENS": json.dumps({MODEL: arguments.context_tokens})}
        kind = REAL if arguments.turn == "real" else CHEAPEST
        with (
            variables(window),
            model_server(turns=arguments.turns, latency_ms=0, reply_chars=2_000, kind=kind),
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh,
        ):
            parts, epochs = fresh.submit(play, found.postgres.pid, arguments.turns).result()
        report.figures = {"parts": [asdict(part) for part in parts], "epochs": [{"count": epochs}]}
        rows = [_row(part) for part in parts]
        title = (
            f"A run of {arguments.turns} turns, {kind.name}, through {epochs} windows, load {load_average()}"
        )
        table(title, COLUMNS, rows)


if __name__ == "__main__":
    main()
