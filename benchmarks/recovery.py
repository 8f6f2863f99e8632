"""How soon a run goes on after its worker was killed: `uv run python benchmarks/recovery.py [--kills 50] [--json FILE]`.

At the default settings. Whatever calls of the model the killed worker had in flight are the runs to wait for; each goes on
when the model server gets its next request, from another process. The parts are read from the events: until somebody
noticed (the lease runs out, the rescue comes by), until somebody took the run, until its request arrived.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from cpu import load_average
from crashes.batch import start_batch
from crashes.fleet import Crash, Worker, fleet
from crashes.services import services
from crashes.verdict import Tables
from crashes.witness import Call, Witness
from figures import begin, median_and_worst, table

WORKERS = 3
TURNS = 100_000  # never reached
PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """Seconds from a kill until one run went on, and the three parts of them."""

    kill: int
    run: str
    seconds: float
    noticed: float
    taken: float
    asked: float


def measure(*, kills: int, runs: int, latency_s: float) -> list[Recovery]:
    """Kill the busiest worker again and again, each time with the others alive."""
    found: list[Recovery] = []
    with (
        services(seed=0, turns=TURNS, latency_s=latency_s) as at,
        fleet(at, workers=WORKERS, slots=runs // 2) as workers,
    ):
        batch_id = start_batch(at.settings, runs=runs, turns=TURNS)
        witness, tables = Witness(at.log), Tables(at.settings.database_url, batch_id)
        for kill in range(kills):
            wait_for_load(witness, workers.current, runs)
            place = max(range(WORKERS), key=lambda n: len(witness.in_flight(workers.current[n].name)))
            lost = witness.in_flight(workers.current[place].name)
            crash = workers.kill(place)
            next_calls = wait_for_calls(witness, lost, crash, tables)
            found += [_recovery(kill, call, crash, tables) for call in next_calls]
    return found


def wait_for_load(witness: Witness, workers: Sequence[Worker], runs: int) -> None:
    """Until all workers are up and nearly every run is waiting for the model."""
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        witness.look()
        in_flight = sum(len(witness.in_flight(worker.name)) for worker in workers)
        if in_flight >= 0.7 * runs and all(worker.is_ready() for worker in workers):
            return
        time.sleep(0.05)
    raise TimeoutError("the workers do not play the runs")


def wait_for_calls(witness: Witness, lost: Sequence[Call], crash: Crash, tables: Tables) -> list[Call]:
    """The next call of each run that was in flight."""
    waiting, found = {call.run for call in lost}, []
    give_up_at = time.monotonic() + PATIENCE_S
    while waiting:
        if time.monotonic() > give_up_at:
            told = {run: tables.takings(run)[-600:] for run in sorted(waiting)}
            raise TimeoutError(f"runs that did not go on: {told}")
        for call in witness.look():
            if call.run in waiting and call.worker != crash.worker and call.received_at > crash.at:
                waiting.remove(call.run)
                found.append(call)
        time.sleep(0.02)
    return found


def _recovery(kill: int, call: Call, crash: Crash, tables: Tables) -> Recovery:
    events = [row for row in tables.rows("taken", since=crash.at) if row["topic"].startswith(call.run)]
    given_back = next(row["at"] for row in events if row["kind"] == "run.handed_back")
    resumed = next(row["at"] for row in events if row["kind"] == "run.resumed")
    return Recovery(
        kill,
        call.run,
        round(call.received_at - crash.at, 2),
        round(given_back - crash.at, 2),
        round(resumed - given_back, 2),
        round(call.received_at - resumed, 2),
    )


def shown(found: Sequence[Recovery]) -> list[list[str]]:
    parts = {
        "until its next request": [each.seconds for each in found],
        "  until somebody noticed": [each.noticed for each in found],
        "  until it was taken": [each.taken for each in found],
        "  until it asked the model": [each.asked for each in found],
    }
    return median_and_worst(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--latency-s", type=float, default=2.0, help="Mean seconds of a model call.")
    with begin(parser) as (asked, report):
        found = measure(kills=asked.kills, runs=asked.runs, latency_s=asked.latency_s)
        report.figures = {"recoveries": [asdict(each) for each in found]}
        title = f"{len(found)} runs after {asked.kills} kills, load {load_average()}"
        table(title, ["seconds after SIGKILL", "median", "worst"], shown(found))


if __name__ == "__main__":
    main()
