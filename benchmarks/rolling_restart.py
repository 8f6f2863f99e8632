"""All workers are replaced under load, and nothing is lost or asked twice: `uv run python benchmarks/rolling_restart.py`.

Three workers play a batch at the default settings. One after the other is asked to end (SIGTERM) and replaced, twice
round. The model server's own log must then hold each turn of each run once, and no call that was cut.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crashes.batch import start_batch
from crashes.consistency import against_log, snapshot
from crashes.fleet import Fleet, fleet
from crashes.model_server import finish_file
from crashes.services import services
from crashes.verdict import Tables
from crashes.witness import Witness, tally

WORKERS = 3
TURNS = 100_000  # the runs end when all workers are restarted
PATIENCE_S = 240.0


@dataclass(frozen=True, slots=True)
class Restart:
    """A worker that was asked to end: its exit code, how long it took, and the calls it had in flight."""

    worker: int
    code: int
    seconds: float
    in_flight: int


def play(*, runs: int, latency_s: float, rounds: int) -> dict[str, Any]:
    """Restart all workers `rounds` times; what was seen, with each broken promise in `broken`."""
    with (
        services(seed=0, turns=TURNS, latency_s=latency_s) as found,
        fleet(found, workers=WORKERS, slots=runs // WORKERS + 2) as workers,
    ):
        batch_id = start_batch(found.settings, runs=runs, turns=TURNS)
        witness, tables = Witness(found.log), Tables(found.settings.database_url, batch_id)
        restarts = [restart(workers, witness, place, runs) for place in list(range(WORKERS)) * rounds]
        finish_file(found.log).touch()
        wait_until(tables.is_finished, "the end of the batch")
        refused = workers.stop()
        witness.look()
        return judge(witness, tables, restarts, refused)


def judge(
    witness: Witness, tables: Tables, restarts: Sequence[Restart], refused: Sequence[str]
) -> dict[str, Any]:
    turns: dict[str, int] = {}
    for call in witness.calls.values():
        turns[call.run] = max(turns.get(call.run, 0), call.turn + 1)
    calls = tally(list(witness.calls.values()), [], turns)
    broken = [*refused, *tables.broken(seed=0, turns=turns), *calls.unexplained.values(), *calls.missing]
    with snapshot(tables.database_url) as connection:
        broken += against_log(connection, witness.logged())
    broken += [f"calls that were cut: {calls.cut_by_worker}"] * bool(calls.cut_by_worker)
    broken += [f"attempts: {row}" for row in tables.rows("attempts") if row["attempt"] > 1]
    return {
        "restarts": [asdict(restart) for restart in restarts],
        "handed_back": tables.rows("handed_back")[0]["n"],
        "runs": len(turns),
        "answered": calls.answered,
        "cut": calls.cut_by_worker,
        "repeated": calls.repeated,
        "broken": broken,
    }


def restart(workers: Fleet, witness: Witness, place: int, runs: int) -> Restart:
    """Restart a worker once all are up and a third of the runs wait for the model."""

    def is_under_load() -> bool:
        witness.look()
        in_flight = [len(witness.in_flight(worker.name)) for worker in workers.current]
        return min(in_flight) > 0 and sum(in_flight) >= runs / 3

    wait_until(is_under_load, "workers that are all at work")
    in_flight = len(witness.in_flight(workers.current[place].name))
    began = time.monotonic()
    code = workers.restart(place)
    done = Restart(place + 1, code, round(time.monotonic() - began, 1), in_flight)
    print(done, file=sys.stderr)
    return done


def wait_until(condition: Any, what: str) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"not within {PATIENCE_S:g} s: {what}")
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--latency-s", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path, help="Write the result to this file.")
    arguments = vars(parser.parse_args())
    file = arguments.pop("json")
    result = play(**arguments)
    if file:
        file.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps({name: value for name, value in result.items() if name != "broken"}))
    for sentence in result["broken"]:
        print(f"BROKEN: {sentence}")
    raise SystemExit(1 if result["broken"] else 0)


if __name__ == "__main__":
    main()
