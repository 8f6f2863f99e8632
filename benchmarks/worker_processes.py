"""What several worker processes make together: `uv run python benchmarks/worker_processes.py [--json FILE]`.

The same runs are played by one worker process, by two and by four, in equal parts, by turns. On a machine with a core for each
of them turns a second grow with the processes; where cores are shared, what a turn takes tells: its CPU, in the workers and in
Postgres, and its transactions are the same for any number of processes, unless they wait for each other.
"""

import argparse
import asyncio
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from statistics import median

import psutil
import psycopg
from concurrency import SQL, Asked, check_calls, enqueue, started, under_way, wait_for_the_end, worker
from cpu import load_average
from figures import begin, table
from look_up import create_table
from sampling import Sampler
from services import Services, model_server, services

from chiron_workers.db.queries import load

OWN_SQL = load(__file__)
COLUMNS = (
    "processes",
    "turns/s",
    "of one",
    "CPU ms a turn",
    "Postgres",
    "transactions a turn",
    "peak MB of one",
)


@dataclass(frozen=True, slots=True)
class Together:
    """What some processes did while all runs were under way; CPU in milliseconds a turn."""

    turns_per_s: float
    client: float
    postgres: float
    transactions: float  # a turn, of all that the workers did from their start to their end
    peak_mb: float  # of the largest process


def play(found: Services, asked: Asked, *, processes: int) -> Together:
    """Play a batch with so many workers, each with its part of the slots."""
    part = Asked(-(-asked.runs // processes), asked.turns, asked.latency_s)
    before = transactions(found)
    with ExitStack() as stack:
        log = stack.enter_context((found.folder / "worker.log").open("w+"))
        workers = {}
        for number in range(processes):
            name = f"together{processes}-{number}"
            command, environment = worker(name, part)
            workers[name] = stack.enter_context(started(command, log, **environment))
        sampler = stack.enter_context(Sampler(workers | {"postgres": found.postgres}))
        batch_id = asyncio.run(enqueue(found, asked))
        wait_for_the_end(found, [batch_id], list(workers.values()), log)
    with psycopg.connect(found.settings.database_url) as connection:
        turns = connection.execute(SQL["turns"], {"batch_id": batch_id}).fetchall()
    check_calls(found)
    start, end, count = under_way(turns)
    client_s = sum(sampler.cpu_s(name, start, end) for name in workers)
    return Together(
        count / (end - start),
        client_s * 1_000 / count,
        sampler.cpu_s("postgres", start, end) * 1_000 / count,
        (transactions(found) - before) / len(turns),
        max(map(sampler.peak_mb, workers)),
    )


def transactions(found: Services) -> int:
    """How many this database has seen; those of a session are all counted once it has ended."""
    with psycopg.connect(found.settings.database_url) as connection:
        row = connection.execute(OWN_SQL["transactions"]).fetchone()
    assert row is not None
    return int(row[0])


def shown(results: dict[int, list[Together]]) -> list[list[str]]:
    """A row for each number of processes, with what they make of the turns of the fewest in the same repeat."""
    rows = []
    fewest = results[min(results)]
    for processes, repeats in results.items():
        medians = {key: median(getattr(one, key) for one in repeats) for key in Together.__slots__}
        ratio = median(one.turns_per_s / few.turns_per_s for one, few in zip(repeats, fewest, strict=True))
        rows.append(
            [
                str(processes),
                f"{medians['turns_per_s']:.0f}",
                f"{ratio:.2f}",
                f"{medians['client']:.2f}",
                f"{medians['postgres']:.2f}",
                f"{medians['transactions']:.2f}",
                f"{medians['peak_mb']:.0f}",
            ]
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--turns", type=int, default=30, help="Turns of each run.")
    parser.add_argument("--latency-ms", type=float, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    with begin(parser) as (arguments, report):
        asked = Asked(arguments.runs, arguments.turns, arguments.latency_ms / 1_000)
        results: dict[int, list[Together]] = {processes: [] for processes in sorted(arguments.processes)}
        with services() as found:
            create_table(found.settings.database_url)
            for _ in range(arguments.repeats):
                for processes, repeats in results.items():
                    with model_server(
                        turns=arguments.turns, latency_ms=arguments.latency_ms, reply_chars=2_000
                    ):
                        repeats.append(play(found, asked, processes=processes))
        report.figures = {
            f"{processes} processes": [asdict(each) for each in repeats]
            for processes, repeats in results.items()
        }
        cores = psutil.cpu_count()
        table(f"{arguments.runs} runs on {cores} cores, load {load_average()}", COLUMNS, shown(results))


if __name__ == "__main__":
    main()
