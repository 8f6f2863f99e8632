"""Everything goes wrong, and nothing is lost: `uv run python benchmarks/chaos.py --seed 7 [--runs 60 --turns 12] [--json FILE]`.

Real workers play a batch while they are killed and stopped past their lease, Valkey is killed and emptied, Postgres is
stopped, restarted and crashed, and the model server refuses, drops, stalls and truncates. If two workers end in the same step
of a run, the run pauses as the likely cause. Here the run is not to blame, so the benchmark resumes it. At the end it counts
the server's own log and checks every table. It exits with 0 only if no promise was broken.
"""

import argparse
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from crashes.batch import resume_batch, start_batch
from crashes.consistency import against_log, snapshot
from crashes.fleet import Fleet, fleet
from crashes.plan import Blow, Fault, plan
from crashes.services import Services, services
from crashes.verdict import Tables
from crashes.witness import Tally, Witness, tally

from chiron_workers.errors import ServiceUnavailable
from chiron_workers.settings import Settings

LEASE_S = 6.0
WORKERS = 3
PATIENCE_S = 300.0
LOOK_AGAIN_S = 2.0  # between looks at the tables, while turns are missing
SETTLING_S = 10.0
TROUBLE = (
    "run.crashed",
    "worker.broken",
    "run.not_released",
    "hints.ended",
    "hints.failed",
    "publisher.failed",
    "Unrecoverable error",
)
ENVIRONMENT = {
    "CHIRON_LEASE_S": str(LEASE_S),
    "CHIRON_RENEWAL_S": "1.5",
    "CHIRON_RESCUE_S": "0.5",
    "CHIRON_RING_AGAIN_S": "2",
    "CHIRON_MODEL_TIMEOUT_S": "8",
    "CHIRON_LOG_LEVEL": "info",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One test."""

    seed: int
    runs: int
    turns: int
    latency_s: float
    fault_rate: float
    only: Fault | None


def play(arguments: Asked) -> dict[str, Any]:
    """Run one test; what happened, with each broken promise as a sentence in `broken`."""
    blows = plan(arguments.seed, workers=WORKERS, lease_s=LEASE_S, only=arguments.only)
    server = {
        "seed": arguments.seed,
        "turns": arguments.turns,
        "latency_s": arguments.latency_s,
        "fault_rate": arguments.fault_rate,
    }
    others = {process.pid for process in psutil.Process().children(recursive=True)}
    with services(**server, stall_s=30) as found:
        with fleet(found, workers=WORKERS, slots=arguments.runs // 2, **ENVIRONMENT) as workers:
            began = time.monotonic()
            batch_id = start_batch(found.settings, runs=arguments.runs, turns=arguments.turns)
            witness, tables = Witness(found.log), Tables(found.settings.database_url, batch_id)
            strike_until_done(blows, workers, witness, tables, arguments)
            seconds = time.monotonic() - began
            refused = workers.stop()
        witness.look()
        left = [*leftovers(found, tables, others), *refused]
        return {"seconds": round(seconds, 1)} | judge(arguments, blows, workers, witness, tables, left)


def strike_until_done(
    blows: Sequence[Blow], workers: Fleet, witness: Witness, tables: Tables, arguments: Asked
) -> None:
    """Deal each blow when its share of the turns is answered, until the batch is complete or patience ends."""
    waiting, dealt = list(blows), []
    look_again_at = time.monotonic() + LOOK_AGAIN_S
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        time.sleep(0.1)
        witness.look()
        share = witness.answered() / (arguments.runs * arguments.turns)
        while waiting and waiting[0].share <= share:
            blow = waiting.pop(0)
            print(
                f"{share:4.0%} {blow.fault} ({blow.seconds:.1f} s, worker {blow.place + 1})", file=sys.stderr
            )
            dealt.append(threading.Thread(target=strike, args=(blow, workers)))
            dealt[-1].start()
        if share == 1 or time.monotonic() >= look_again_at:
            look_again_at = time.monotonic() + LOOK_AGAIN_S
            if _is_done(tables, workers.services.settings):
                break
    for thread in dealt:
        thread.join()


def strike(blow: Blow, workers: Fleet) -> None:
    match blow.fault:
        case Fault.KILL:
            workers.kill(blow.place)
        case Fault.STOP:
            workers.pause(blow.place, seconds=blow.seconds)
        case Fault.VALKEY:
            workers.services.lose_valkey(down_s=blow.seconds)
        case Fault.POSTGRES_CRASH:
            workers.services.restart_postgres("immediate", down_s=blow.seconds)
        case Fault.POSTGRES_RESTART:
            workers.services.restart_postgres("fast", down_s=blow.seconds)
        case Fault.BACKEND:
            workers.services.crash_backend()


def _is_done(tables: Tables, settings: Settings) -> bool:
    try:
        if tables.has_blamed():
            resume_batch(settings, tables.batch_id)
        return tables.is_finished()
    except (psycopg.OperationalError, psycopg.InterfaceError, ServiceUnavailable):
        return False


def leftovers(found: Services, tables: Tables, others: Set[int]) -> list[str]:
    """Processes and connections that outlived the workers; `others` are the processes that were there before them."""
    give_up_at = time.monotonic() + SETTLING_S
    while True:
        known = found.pids() | others
        processes = [p for p in psutil.Process().children(recursive=True) if p.pid not in known]
        connections = tables.rows("connections")
        if not processes and not connections:
            return []
        if time.monotonic() > give_up_at:
            return [f"left behind: {processes + connections}"]
        time.sleep(0.2)


def judge(
    arguments: Asked,
    blows: Sequence[Blow],
    workers: Fleet,
    witness: Witness,
    tables: Tables,
    left: Sequence[str],
) -> dict[str, Any]:
    expected = {f"r{n:03}": arguments.turns for n in range(arguments.runs)}
    calls = tally(list(witness.calls.values()), workers.crashes, expected, outages=workers.services.outages)
    broken = [*left, *tables.broken(seed=arguments.seed, turns=expected), *against(witness, workers)]
    broken += [f"{words}; {tables.takings(run)}" for run, words in calls.unexplained.items()]
    if calls.missing:
        broken.append(f"turns that were never answered: {len(calls.missing)}, such as {calls.missing[0]}")
    if calls.errors:
        broken.append(f"results of tools that the model saw fail: {calls.errors}")
    outages = sum("Postgres" in blow.fault for blow in blows)
    broken += unconfirmed_wrongly(calls, tables.unconfirmed(), outages)
    broken += troubles(workers)
    return {
        "seed": arguments.seed,
        "faults": dict(Counter(str(blow.fault) for blow in blows)),
        "model_faults": calls.faults,
        "runs": arguments.runs,
        "blamed": tables.blames(),
        "completed": tables.states().get("completed", 0),
        "answered": calls.answered,
        "cut": calls.cut_by_worker,
        "repeated": calls.repeated,
        "unconfirmed": sum(count for count, _ in tables.unconfirmed().values()),
        "doubled_writes": len(tables.doubled_writes()),
        "crashes": [asdict(crash) for crash in workers.crashes],
        "spent_usd": float(tables.rows("spent")[0]["spent_usd"]),
        "broken": broken,
    }


def against(witness: Witness, workers: Fleet) -> list[str]:
    """What does not add up between the tables and the log."""
    log, outages = witness.logged(), workers.services.outages
    with snapshot(workers.services.settings.database_url) as connection:
        return against_log(connection, log, lost=witness.repeated(), outages=len(outages))


def unconfirmed_wrongly(
    calls: Tally, unconfirmed: Mapping[str, tuple[int, int]], outages: int
) -> Iterator[str]:
    """Runs whose count of unconfirmed calls is not what the server saw go to waste.

    A worker that dies between reserving and asking, and a reservation whose commit an outage hid, count as well.
    """
    for run, (again, cut) in calls.lost.items():
        counted, takings = unconfirmed[run]
        most = cut + takings - 1 + outages
        if not again <= counted <= most:
            yield f"{run} has {counted} unconfirmed calls, and between {again} and {most} went to waste"


def troubles(workers: Fleet) -> list[str]:
    """What the workers' own logs complain of, and how those ended that nobody ended."""
    found = []
    for worker in [*workers.past, *workers.current]:
        lines = [
            line
            for line in worker.log.read_text(errors="replace").splitlines()
            if any(t in line for t in TROUBLE)
        ]
        if lines:
            found.append(f"{worker.name} complains: {lines[0][:300]}")
        if worker.ended_by.startswith("itself"):
            print(f"{worker.name} ended by {worker.ended_by}", file=sys.stderr)
    return found


def row(result: Mapping[str, Any]) -> str:
    """A result as a line of the table in docs."""
    faults = ", ".join(f"{count} x {name}" for name, count in sorted(result["faults"].items()))
    names = ("completed", "answered", "cut", "repeated", "unconfirmed", "doubled_writes", "seconds")
    figures = [str(result[name]) for name in names]
    model_faults = str(sum(result["model_faults"].values()))
    return " | ".join(
        ["", str(result["seed"]), faults, model_faults, *figures, str(len(result["broken"])), ""]
    ).strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument(
        "--seeds", type=int, default=1, help="How many seeds, from --seed on; prints a table."
    )
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--latency-s", type=float, default=1.5, help="Mean seconds of a model call.")
    parser.add_argument("--fault-rate", type=float, default=0.06, help="Share of model calls that fail.")
    parser.add_argument("--only", type=Fault, help="Deal only this one: " + ", ".join(Fault))
    parser.add_argument("--json", type=Path, help="Write the last seed's result to this file.")
    arguments = vars(parser.parse_args())
    file, seeds, first, broken = arguments.pop("json"), arguments.pop("seeds"), arguments.pop("seed"), 0
    for seed in range(first, first + seeds):
        print(f"seed {seed}", file=sys.stderr)
        result = play(Asked(seed=seed, **arguments))
        if file:
            file.write_text(json.dumps(result, indent=1) + "\n")
        print(row(result), flush=True)
        for sentence in result["broken"]:
            print(f"BROKEN: {sentence}", flush=True)
        broken += len(result["broken"])
    raise SystemExit(1 if broken else 0)


if __name__ == "__main__":
    main()
