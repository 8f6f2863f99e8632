"""How many turns one process of each loop plays: the part of `rivals.py` that plays many runs at once."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from uuid import uuid4

from concurrency import PATIENCE_S, Asked, Servers, Throughput, pipeline, started, throughput
from figures import Figures, failed, failure
from rivals_overhead import PIPELINE, REPLY_CHARS
from sampling import Sampler
from services import Services, model_server

HERE = Path(__file__).parent


def played(name: str, found: Services, servers: Servers, arguments: Asked) -> Throughput:
    """The turns of one loop in a process of its own; the pipeline's is a Celery worker."""
    if name == PIPELINE:
        return pipeline(found, servers, arguments)
    options = {"--runs": arguments.runs, "--tag": uuid4().hex[:8], "--over-s": arguments.latency_s}
    command = [sys.executable, str(HERE / "loops.py"), name]
    command += [str(part) for option in options.items() for part in option]
    with (found.folder / "loop.json").open("w+") as out, started(command, out) as process:
        with Sampler({"client": process, "postgres": found.postgres} | servers) as sampler:
            code = process.wait(PATIENCE_S)
        out.seek(0)
        said = out.read()
    if code != 0:
        raise SystemExit(f"The runs of {name} did not complete:\n{said[-2_000:]}")
    return throughput(json.loads(said[said.index("[[") :]), sampler)


def measure(found: Services, names: Sequence[str], arguments: Asked, *, repeats: int) -> Figures:
    """Every repeat of each loop by turns, by `throughput NAME RUNS`."""
    figures: Figures = {f"throughput {name} {arguments.runs}": [] for name in names}
    latency_ms = arguments.latency_s * 1_000
    for _ in range(repeats):
        for name in names:
            with model_server(
                turns=arguments.turns, latency_ms=latency_ms, reply_chars=REPLY_CHARS, kind=arguments.kind
            ) as servers:
                try:
                    one = asdict(played(name, found, servers, arguments))
                except (Exception, SystemExit) as error:  # noqa: BLE001  # a rival's, of any kind
                    one = failure(error)
            figures[f"throughput {name} {arguments.runs}"].append(one)
    return figures


def rows(figures: Figures, names: Sequence[str], arguments: Asked) -> list[list[str]]:
    """Of each loop: turns a second, their share of the ideal, milliseconds of CPU a turn, and memory."""
    found = []
    for name in names:
        repeated = figures[f"throughput {name} {arguments.runs}"]
        if message := failed(repeated):
            found.append([name, message])
            continue
        medians = {key: median(one[key] for one in repeated) for key in Throughput.__slots__}
        share = medians["turns_per_s"] / (arguments.runs / arguments.latency_s)
        cpu = [f"{medians[key]:.2f}" for key in ("client", "postgres")]
        found.append(
            [name, f"{medians['turns_per_s']:.0f}", f"{share:.2f}", *cpu, f"{medians['peak_mb']:.0f}"]
        )
    return found
