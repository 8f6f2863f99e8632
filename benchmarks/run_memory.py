"""What the memory of a run holds: `uv run python benchmarks/run_memory.py [--runs 150] [--turns 270] [--json FILE]`.

A real worker plays many runs whose conversations only grow. Its memory (RSS) is looked at all the while; what it gains a turn is
held against what a turn adds to the conversation as it is sent: the JSON of its reply and its results.
"""

import argparse
import asyncio
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil
import psycopg
from concurrency import PATIENCE_S, Asked, enqueue, started, states_of, worker
from cpu import load_average
from figures import begin, table
from look_up import create_table
from rivals_overhead import message_bytes
from services import Services, model_server, services

from chiron_workers.db.queries import load

SQL = load(__file__)
LOOK_EVERY_S = 1.0
SETTLED = 0.2  # share of the turns after which what the process loads once is there
GROWTH_TURNS = 5_000
WINDOWS, WINDOW_TOKENS, TOKEN_BYTES = 300, 150_000, 4  # of English prose


@dataclass(frozen=True, slots=True)
class Held:
    """The turns of all runs together, and the memory of the process, once a second."""

    turns: list[int]
    mb: list[float]

    @property
    def bytes_of_a_turn(self) -> float:
        """How many bytes the process grows by with each turn: the slope of a line through the settled part."""
        first = next((n for n, turn in enumerate(self.turns) if turn >= SETTLED * self.turns[-1]), 0)
        slope, _ = np.polyfit(self.turns[first:], self.mb[first:], 1)
        return float(slope) * 1e6


def play(found: Services, arguments: Asked) -> Held:
    """Play the runs in a worker, and look at it until the first of them has ended."""
    command, slots = worker("memory", arguments)
    with (found.folder / "worker.log").open("w+") as log, started(command, log, **slots) as process:
        batch_id = asyncio.run(enqueue(found, arguments))
        with psycopg.connect(found.settings.database_url, autocommit=True) as connection:
            return _watch(connection, batch_id, process)


def _watch(connection: psycopg.Connection[Any], batch_id: Any, process: psutil.Process) -> Held:
    held, give_up_at = Held([], []), time.monotonic() + PATIENCE_S
    while states_of(connection, batch_id).keys() <= {"queued", "running"}:
        if not process.is_running() or time.monotonic() > give_up_at:
            raise SystemExit("The runs did not complete.")
        row = connection.execute(SQL["turns"], {"batch_id": batch_id}).fetchone()
        assert row is not None
        if row[0]:
            held.turns.append(int(row[0]))
            held.mb.append(process.memory_info().rss / 1e6)
        time.sleep(LOOK_EVERY_S)
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--turns", type=int, default=270)
    parser.add_argument("--latency-ms", type=float, default=500)
    parser.add_argument(
        "--reply-chars", type=int, default=900, help="Of prose: with its call and its result 1.4 KB a turn."
    )
    with begin(parser) as (arguments, report), services() as found:
        create_table(found.settings.database_url)
        asked = Asked(arguments.runs, arguments.turns, arguments.latency_ms / 1_000)
        with model_server(
            turns=arguments.turns, latency_ms=arguments.latency_ms, reply_chars=arguments.reply_chars
        ):
            sent = asyncio.run(message_bytes())
            held = play(found, asked)
        grown = held.bytes_of_a_turn
        windows_mb = WINDOWS * WINDOW_TOKENS * TOKEN_BYTES * grown / sent / 1e6
        report.figures["run memory"] = [
            {
                "sent_bytes_a_turn": sent,
                "held_bytes_a_turn": round(grown),
                "times": round(grown / sent, 2),
                "peak_mb": round(max(held.mb), 1),
                "full_windows_mb": round(windows_mb),
                "turns": held.turns[-1],
            }
        ]
        rows = [
            ["bytes that a turn adds to what is sent", f"{sent:,}"],
            ["bytes that the process grows by", f"{grown:,.0f}"],
            ["times", f"{grown / sent:.2f}"],
            [f"MB more every {GROWTH_TURNS:,} turns", f"{grown * GROWTH_TURNS / 1e6:.1f}"],
            ["MB at the most", f"{max(held.mb):.0f}"],
            [f"MB of {WINDOWS} windows of {WINDOW_TOKENS:,} tokens, computed", f"{windows_mb:.0f}"],
        ]
        title = f"{arguments.runs} runs of {arguments.turns} turns, load {load_average()}"
        table(title, ["memory of runs", ""], rows)


if __name__ == "__main__":
    main()
