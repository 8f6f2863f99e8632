"""All workers are replaced under load, and nothing is lost or asked twice: `uv run python benchmarks/rolling_restart.py`.

Three workers play a batch at the default settings. One after the other is asked to end (SIGTERM) and replaced, twice
round. The model server's own log must then hold each turn of each run once, and no call that was cut.
"""

import argparse
import json
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from crashes.batch import start_batch
from crashes.fleet import Fleet, fleet
from crashes.services import services
from crashes.verdict import Tables
from crashes.witness import Witness, tally

WORKERS = 3
PATIENCE_S = 240.0


@dataclass(frozen=True, slots=True)
class Restart:
    """A worker that was asked to end: its exit code, how long it took, and the calls it had in flight."""

    worker: int
    code: int
    seconds: float
    in_flight: int


def play(*, runs: int, turns: int, latency_s: float, rounds: int) -> dict[str, Any]:
    """Restart all workers `rounds` times; what was seen, with each broken promise in `broken`."""
    with (
        services(seed=0, turns=turns, latency_s=latency_s) as found,
        fleet(found, workers=WORKERS, slots=runs // WORKERS + 2) as workers,
    ):
        batch_id = start_batch(found.settings, runs=runs, turns=turns)
        witness, tables = Witness(found.log), Tables(found.settings.database_url, batch_id)
        restarts: list[Restart] = []
        restarting = threading.Thread(target=restart_all, args=(workers, witness, rounds, restarts))
        wait_until(lambda: witness.look() is not None and witness.answered() >= runs, "the first turns")
        restarting.start()
        wait_until(lambda: witness.look() is not None and tables.states().keys() == {"completed"}, "the end")
        restarting.join()
        broken = workers.stop()
        witness.look()
        calls = tally(list(witness.calls.values()), [], {f"r{n:03}": turns for n in range(runs)})
        broken += [
            *tables.broken(seed=0, runs=runs, turns=turns),
            *calls.unexplained.values(),
            *calls.missing,
        ]
        broken += [f"calls that were cut: {calls.cut_by_worker}"] * bool(calls.cut_by_worker)
        broken += [
            f"{row['n']} runs had {row['attempt']} attempts"
            for row in tables.rows("attempts")
            if row["attempt"] > 1
        ]
        broken += [f"restart {n} met no call" for n, restart in enumerate(restarts) if not restart.in_flight]
        return {
            "restarts": [asdict(restart) for restart in restarts],
            "handed_back": tables.rows("handed_back")[0]["n"],
            "runs": runs,
            "answered": calls.answered,
            "cut": calls.cut_by_worker,
            "repeated": calls.repeated,
            "broken": broken,
        }


def restart_all(workers: Fleet, witness: Witness, rounds: int, restarts: list[Restart]) -> None:
    """Restart each worker in turn, the next one when the last is at work again."""
    for place in list(range(WORKERS)) * rounds:
        in_flight = len(witness.in_flight(workers.current[place].name))
        began = time.monotonic()
        code = workers.restart(place)
        restarts.append(Restart(place + 1, code, round(time.monotonic() - began, 1), in_flight))
        print(restarts[-1], file=sys.stderr)
        wait_until(workers.current[place].is_ready, "a worker that is ready")


def wait_until(condition: Any, what: str) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"not within {PATIENCE_S:g} s: {what}")
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--turns", type=int, default=36)
    parser.add_argument("--latency-s", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path, help="Write the result to this file.")
    asked = vars(parser.parse_args())
    file = asked.pop("json")
    result = play(**asked)
    if file:
        file.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps({name: value for name, value in result.items() if name != "broken"}))
    for sentence in result["broken"]:
        print(f"BROKEN: {sentence}")
    raise SystemExit(1 if result["broken"] else 0)


if __name__ == "__main__":
    main()
