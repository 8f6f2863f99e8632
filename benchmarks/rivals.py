"""This pipeline against DBOS, LangGraph and absurd: `uv run --group benchmarks python benchmarks/rivals.py [--json FILE]`.

All of them play the same conversations against the same model server, with the same SDK client, the same tool and the
same PostgreSQL, fsync on; `loops.py` says how. What is compared is the overhead of a turn over a bare loop, early and
late in a run; the bytes that a turn writes; and turns a second and memory with many runs in one process.
"""

import argparse
import os

import loops
import rivals_overhead
import rivals_throughput
from bare import STREAM
from concurrency import Asked
from cpu import load_average
from figures import Figures, begin, table
from look_up import create_table
from rivals_overhead import PIPELINE
from services import services
from turn_overhead import windows
from work import ALL_TOOLS, CHEAPEST, REAL

LOOPS = ("bare", *loops.RIVALS, PIPELINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=210, help="Turns of the run whose overhead is measured.")
    parser.add_argument("--repeats", type=int, default=5, help="Of the overhead.")
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 300], help="Runs at once.")
    parser.add_argument("--turns-at-once", type=int, default=12, help="Turns of each run of many.")
    parser.add_argument("--latency-ms", type=float, default=500, help="Of a reply, with many runs at once.")
    parser.add_argument("--repeats-at-once", type=int, default=1)
    parser.add_argument("--loops", nargs="+", choices=LOOPS, default=LOOPS)
    parser.add_argument(
        "--stream", choices=("raw", "types"), default="raw", help="How all but the pipeline read a stream."
    )
    parser.add_argument("--turn", choices=("cheapest", "real"), default="cheapest")
    parser.add_argument(
        "--all-tools", action="store_true", help="In place of the cheapest turn, offer every tool."
    )
    with begin(parser) as (arguments, report):
        os.environ[STREAM] = arguments.stream
        kind = REAL if arguments.turn == "real" else ALL_TOOLS if arguments.all_tools else CHEAPEST
        report.figures["versions"] = [dict(loops.versions())]
        names = list(dict.fromkeys(["bare", *arguments.loops]))
        with services() as found:
            create_table(found.settings.database_url)
            for name in names:
                if name != PIPELINE:
                    loops.install(name, found.settings.database_url)
            report.figures |= rivals_overhead.measure(
                found, names, kind, turns=arguments.turns, repeats=arguments.repeats
            )
            show_overhead(report.figures, names, arguments)
            for runs in arguments.runs:
                one = Asked(runs, arguments.turns_at_once, arguments.latency_ms / 1_000, kind)
                measured = rivals_throughput.measure(found, names, one, repeats=arguments.repeats_at_once)
                report.figures |= measured
                show_throughput(report.figures, names, one)


def show_overhead(figures: Figures, names: list[str], arguments: argparse.Namespace) -> None:
    early, late = windows(arguments.turns)
    columns = ["loop", *(f"{what} {when[0]}-{when[1]}" for when in (early, late) for what in WHAT)]
    title = f"Milliseconds a turn over the bare loop, median of {arguments.repeats}, load {load_average()}"
    table(title, columns, rivals_overhead.overhead_rows(figures, names))
    short, message = rivals_overhead.short_run(arguments.turns), figures["message"][0]["bytes"]
    columns = ["loop", f"by turn {short}", f"by turn {arguments.turns - 1}", "beyond the messages"]
    title = f"KB of WAL a turn, whose reply and result are {message:,} bytes"
    table(title, columns, rivals_overhead.written_rows(figures, names))


WHAT = ("wall", "CPU client", "Postgres", "both")


def show_throughput(figures: Figures, names: list[str], arguments: Asked) -> None:
    columns = ["loop", "turns/s", "of ideal", "CPU ms a turn", "Postgres", "peak MB"]
    title = f"{arguments.runs} runs in one process, {arguments.latency_s * 1_000:g} ms a reply, load {load_average()}"
    table(title, columns, rivals_throughput.rows(figures, names, arguments))


if __name__ == "__main__":
    main()
