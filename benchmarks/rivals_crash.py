"""What a crash and a zombie cost: `uv run --group benchmarks python benchmarks/rivals_crash.py [--json FILE]`.

In each round a process plays a few runs side by side. At a random moment it is killed and started again at once, as a
supervisor would; or it is stopped, another one takes over, and then it goes on. The witnesses are the model server's own
log and the rows of the tool, which have no unique key.
"""

import argparse
import random
import statistics
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

import loops
from calls import CallLog
from concurrency import Asked
from cpu import load_average
from crash_round import Outcome, Round, kill, zombie
from figures import begin, failed, failure, table
from look_up import create_table
from rivals import LOOPS
from rivals_overhead import PIPELINE
from services import Services, model_server, services


def measure(
    name: str, found: Services, arguments: Asked, *, kills: int, zombies: int, seed: int
) -> dict[str, Any]:
    """Every round of one loop, by `kill NAME` and `zombie NAME`."""
    log = CallLog(found.folder / f"{name}.log")
    latency_ms = arguments.latency_s * 1_000
    chance, rounds = random.Random(seed), {"kill": (kill, kills), "zombie": (zombie, zombies)}
    with model_server(turns=arguments.turns, latency_ms=latency_ms, reply_chars=2_000, log=log.path):
        return {
            f"{label} {name}": [_round(how, name, found, arguments, log, chance) for _ in range(count)]
            for label, (how, count) in rounds.items()
        }


def _round(
    how: Callable[[Round, random.Random], Outcome],
    name: str,
    found: Services,
    arguments: Asked,
    log: CallLog,
    chance: random.Random,
) -> dict[str, Any]:
    try:
        with (found.folder / f"{name}.out").open("a+") as out, ExitStack() as processes:
            return asdict(how(Round(name, found, arguments, out, log, processes), chance))
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a rival's, of any kind
        return failure(error)


def shown(figures: dict[str, Any], label: str, names: Sequence[str]) -> list[list[str]]:
    rows = []
    for name in names:
        outcomes = figures[f"{label} {name}"]
        if not outcomes:
            continue
        if message := failed(outcomes):
            rows.append([name, message])
            continue
        before, in_flight, after = (
            sum(one["again"][when] for one in outcomes) for when in ("before", "in_flight", "after")
        )
        by_ms = max(one["again"]["before_by_s"] for one in outcomes) * 1_000
        rows_wrong = [str(sum(one[key] for one in outcomes)) for key in ("doubled", "missing")]
        waited = [seconds for one in outcomes for seconds in one["next_call_s"]]
        waits = [f"{statistics.median(waited):.1f}", f"{max(waited):.1f}"] if waited else ["", ""]
        paid = [str(before), f"{by_ms:.0f}" if before else "", str(in_flight), str(after)]
        rows.append([name, str(len(outcomes)), *paid, *rows_wrong, *waits])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--zombies", type=int, default=3)
    parser.add_argument("--runs", type=int, default=5, help="Runs side by side in each round.")
    parser.add_argument("--turns", type=int, default=40, help="Turns of each run.")
    parser.add_argument("--latency-ms", type=float, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--loops", nargs="+", choices=LOOPS[1:], default=LOOPS[1:])
    with begin(parser) as (given, report):
        report.figures["versions"] = [dict(loops.versions())]
        print(f"seed {given.seed}")
        arguments = Asked(given.runs, given.turns, given.latency_ms / 1_000)
        with services() as found:
            create_table(found.settings.database_url)
            for name in given.loops:
                if name != PIPELINE:
                    loops.install(name, found.settings.database_url)
                sizes = {"kills": given.kills, "zombies": given.zombies, "seed": given.seed}
                report.figures |= measure(name, found, arguments, **sizes)
        columns = ["loop", "rounds", *COLUMNS]
        for label, title in TITLES.items():
            table(f"{title}, load {load_average()}", columns, shown(report.figures, label, given.loops))


TITLES = {"kill": "SIGKILL and a restart", "zombie": "SIGSTOP, another process, SIGCONT"}
COLUMNS = (
    "answered, asked again",
    "by ms",
    "in flight, asked again",
    "asked by both",
    "rows doubled",
    "rows missing",
    "s to the next call",
    "worst",
)


if __name__ == "__main__":
    main()
