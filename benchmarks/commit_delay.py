"""How soon a complete reply is committed: `uv run python benchmarks/commit_delay.py [--runs 300] [--json FILE]`.

Worker processes play runs whose tools write, all into one subject. The model server's log has the moment at which a
reply's last byte was sent; Postgres has the one at which its commit was written (`track_commit_timestamp`). Both read the
clock of the machine. What a kill between the two would repeat is what this measures.
"""

import argparse
import signal
import statistics
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from uuid import UUID

import psutil
import psycopg
from cpu import load_average
from crashes.batch import start_batch
from crashes.fleet import fleet
from crashes.services import Services, services
from crashes.witness import Witness
from figures import begin, table
from patient_postgres import START_S

from chiron_workers.db.queries import load

SQL = load(__file__)
TURNS = 100_000  # never reached
PATIENCE_S = 180.0
SETTLING_S = 5.0  # for the commits of what was sent last
Turn = tuple[str, int]  # a run and its reply, counted from 0


@dataclass(frozen=True, slots=True)
class Delay:
    """From the last byte of one reply to its commit, in milliseconds."""

    run: str
    turn: int
    ms: float


def measure(*, runs: int, workers: int, latency_s: float, seconds: float) -> tuple[list[Delay], list[float]]:
    """The delays of all replies that were sent while every run was under way, and what bare commits took meanwhile."""
    with services(seed=0, turns=TURNS, latency_s=latency_s) as at:
        _keep_commit_times(at)
        with fleet(at, workers=workers, slots=-(-runs // workers)):
            batch_id = start_batch(at.settings, runs=runs, turns=TURNS)
            witness = Witness(at.log)
            begin_at = wait_for_load(witness, runs)
            with _bare_commits(at.settings.database_url) as bare_ms:
                time.sleep(seconds)
            end_at = time.time()
            witness.look()
            sent = _sent(witness, begin_at, end_at)
            give_up_at = time.monotonic() + SETTLING_S
            while not sent.keys() <= (committed := _commits(at, batch_id)).keys():
                if time.monotonic() > give_up_at:
                    break
                time.sleep(0.1)
    delays = [
        Delay(*turn, ms=round((committed[turn] - sent_at) * 1_000, 2))
        for turn, sent_at in sent.items()
        if turn in committed
    ]
    return delays, bare_ms


def _sent(witness: Witness, begin_at: float, end_at: float) -> dict[Turn, float]:
    """The replies whose last byte was sent within a time, with that moment."""
    return {
        (call.run, call.turn): call.ended_at
        for call in witness.calls.values()
        if call.became == "answered" and begin_at <= call.ended_at < end_at
    }


@contextmanager
def _bare_commits(database_url: str) -> Iterator[list[float]]:
    """Commit a row every tenth of a second, which is the least that a commit takes on this machine now; milliseconds."""
    found: list[float] = []
    is_over = threading.Event()

    def commit() -> None:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(SQL["create_floor"])
            while not is_over.wait(0.1):
                began = time.perf_counter()
                connection.execute(SQL["floor"])
                found.append((time.perf_counter() - began) * 1_000)

    thread = threading.Thread(target=commit, name="bare commits")
    thread.start()
    try:
        yield found
    finally:
        is_over.set()
        thread.join()


def _keep_commit_times(at: Services) -> None:
    with psycopg.connect(at.settings.database_url, autocommit=True) as connection:
        connection.execute("alter system set track_commit_timestamp = on")
    postmaster = psutil.Process(at.postgres.get_pid())
    postmaster.send_signal(signal.SIGINT)  # a fast shutdown
    postmaster.wait(START_S)
    at.postgres.ensure_postgres_running()


def wait_for_load(witness: Witness, runs: int) -> float:
    """Wait until each run has been answered twice; the time at which it was so."""
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        witness.look()
        if len({call.run for call in witness.calls.values() if call.turn >= 2}) == runs:
            return time.time()
        time.sleep(0.1)
    raise TimeoutError("the workers do not play the runs")


def _commits(at: Services, batch_id: UUID) -> Mapping[Turn, float]:
    with psycopg.connect(at.settings.database_url) as connection:
        rows = connection.execute(SQL["commits"], {"batch_id": batch_id}).fetchall()
    return {(run, turn): committed_at for run, turn, committed_at in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--latency-s", type=float, default=6.0, help="Mean seconds of a model call.")
    parser.add_argument("--seconds", type=float, default=30.0, help="For how long replies are counted.")
    with begin(parser) as (arguments, report):
        delays, bare_ms = measure(
            runs=arguments.runs,
            workers=arguments.workers,
            latency_s=arguments.latency_s,
            seconds=arguments.seconds,
        )
        report.figures = {
            "delays": [asdict(delay) for delay in delays],
            "bare": [{"ms": round(ms, 2)} for ms in bare_ms],
        }
        all_ms = [delay.ms for delay in delays]
        title = f"{arguments.runs} runs in {arguments.workers} workers, {arguments.latency_s:g} s a reply, load {load_average()}"
        rows = [["a reply's last byte to its commit", *shown(all_ms, arguments.seconds)]]
        rows += [["a bare commit meanwhile", *shown(bare_ms, arguments.seconds)]]
        table(title, ["milliseconds", "p50", "p90", "p99", "worst", "per second"], rows)


def shown(ms: Sequence[float], seconds: float) -> list[str]:
    """Median, two percentiles, the worst, and how many there were in a second."""
    percentiles = statistics.quantiles(ms, n=100, method="inclusive")
    values = [percentiles[percent - 1] for percent in (50, 90, 99)] + [max(ms)]
    return [*(f"{value:.1f}" for value in values), f"{len(ms) / seconds:.0f}"]


if __name__ == "__main__":
    main()
