"""How soon runs go on after Postgres was away: `uv run python benchmarks/outage.py [--down-s 37] [--json FILE]`.

Worker processes play runs; Postgres is stopped, and started again after a while. What counts are the seconds from the
moment at which it accepts connections again until runs commit.
"""

import argparse
import time
from collections.abc import Sequence
from statistics import median

import psycopg
from commit_delay import TURNS, wait_for_load
from cpu import load_average
from crashes.batch import start_batch
from crashes.fleet import fleet
from crashes.services import services
from crashes.witness import Witness
from figures import begin, table

from chiron_workers.db.queries import load

SQL = load(__file__)
PATIENCE_S = 120.0


def measure(*, runs: int, workers: int, latency_s: float, down_s: float, repeats: int) -> list[list[float]]:
    """For each outage the seconds from Postgres' return until each run first committed, the first one first."""
    found = []
    with (
        services(seed=0, turns=TURNS, latency_s=latency_s) as at,
        fleet(at, workers=workers, slots=-(-runs // workers)),
    ):
        start_batch(at.settings, runs=runs, turns=TURNS)
        witness = Witness(at.log)
        for _ in range(repeats):
            wait_for_load(witness, runs)
            at.restart_postgres("fast", down_s=down_s)
            found.append(_seconds_to_commits(at.settings.database_url, runs, returned_at=time.time()))
    return found


def _seconds_to_commits(database_url: str, runs: int, *, returned_at: float) -> list[float]:
    give_up_at = time.monotonic() + PATIENCE_S
    with psycopg.connect(database_url, autocommit=True) as connection:
        while time.monotonic() < give_up_at:
            rows = connection.execute(SQL["first_commits"], {"since": returned_at}).fetchall()
            if len(rows) == runs:
                return [round(at - returned_at, 2) for (at,) in rows]
            time.sleep(0.2)
    raise TimeoutError(f"only {len(rows)} of {runs} runs went on")


def shown(seconds: Sequence[float]) -> list[str]:
    return [f"{seconds[0]:.1f}", f"{median(seconds):.1f}", f"{seconds[-1]:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--latency-s", type=float, default=1.0, help="Mean seconds of a model call.")
    parser.add_argument("--down-s", type=float, default=37.0)
    parser.add_argument("--repeats", type=int, default=1)
    with begin(parser) as (arguments, report):
        outages = measure(
            runs=arguments.runs,
            workers=arguments.workers,
            latency_s=arguments.latency_s,
            down_s=arguments.down_s,
            repeats=arguments.repeats,
        )
        report.figures = {"outages": [{"seconds": seconds} for seconds in outages]}
        title = f"{arguments.runs} runs, Postgres {arguments.down_s:g} s away, load {load_average()}"
        rows = [[f"outage {n}", *shown(seconds)] for n, seconds in enumerate(outages, start=1)]
        table(title, ["seconds until a run committed", "first", "median", "last"], rows)


if __name__ == "__main__":
    main()
