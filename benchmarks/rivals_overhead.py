"""What a turn costs each loop over the bare one, and what it writes: the part of `rivals.py` that plays one run at a time.

Every repeat plays all loops by turns, each in a new process that has played a conversation before.
"""

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from statistics import median
from uuid import uuid4

import loops
import psutil
import psycopg
import uvloop
from bare import answer, ask, calls, open_client, question
from figures import Figures, failed, failure
from look_up import calls_told_to
from services import Services, model_server
from turn_overhead import Cost, Laps, over, play_pipeline, windows
from turn_overhead import median as median_cost
from work import Kind, open_work

from chiron_workers.db.queries import load
from chiron_workers.settings import settings

SQL = load(__file__)
PIPELINE = "pipeline"
REPLY_CHARS = 2_000  # of prose in each reply
SHORT = 50  # turns: what a run of 50 has written is read in the middle of the long one


@dataclass(frozen=True, slots=True)
class Turn:
    """One loop in one repeat: milliseconds of a turn early and late, and bytes of WAL a turn in runs of 50 and of all."""

    early: Cost
    late: Cost
    written_short: float
    written_long: float


@dataclass(slots=True)
class WrittenLaps(Laps):
    """Laps that also look how far the WAL has come."""

    connection: psycopg.Connection[tuple[int]] | None = None
    written: dict[int, int] = field(default_factory=dict)

    def count(self, query: str) -> None:
        Laps.count(self, query)
        if self.calls in self.edges and self.connection is not None:
            found = self.connection.execute(SQL["written"]).fetchone()
            assert found is not None
            self.written[self.calls] = found[0]

    def turn(self, turns: int) -> Turn:
        early, late = self.costs(turns)
        short, end = short_run(turns), turns - 1
        return Turn(early, late, self._written_by(short), self._written_by(end))

    def _written_by(self, turn: int) -> float:
        return (self.written[turn] - self.written[1]) / (turn - 1)


def short_run(turns: int) -> int:
    return min(SHORT, turns - 1)


def played(name: str, postgres: int, turns: int) -> Turn:
    """A run of one loop in this process, after one that warms it up."""
    edges = {edge for window in windows(turns) for edge in window} | {short_run(turns)}
    with psycopg.connect(settings().database_url, autocommit=True) as connection:
        laps = WrittenLaps(psutil.Process(postgres), frozenset(edges), connection=connection)
        if name == PIPELINE:
            play_pipeline(laps, turns)
        else:
            uvloop.run(_play(name, laps))
    return laps.turn(turns)


async def _play(name: str, laps: Laps) -> None:
    warming_up, topic = loops.topics(uuid4().hex[:8], 2)
    async with loops.opened(name, runs=1) as play:
        await play(warming_up)
        with calls_told_to(laps.count):
            await play(topic)


async def message_bytes() -> int:
    """A turn's reply and result as JSON: what any loop that keeps them has to write."""
    async with open_client(connections=1) as client, open_work() as work:
        reply = await ask(client, [question("tides")], tools=work.tools)
        uses = calls(reply)
        results = answer(uses, [(await work.do("tides", use)).result for use in uses])
    return len(json.dumps([reply, results]))


def measure(found: Services, names: Sequence[str], kind: Kind, *, turns: int, repeats: int) -> Figures:
    """Every repeat's turns of each loop, by `overhead NAME`, and the bytes of a turn's messages."""
    figures: Figures = {f"overhead {name}": [] for name in names}
    with model_server(turns=turns, latency_ms=0, reply_chars=REPLY_CHARS, kind=kind):
        figures["message"] = [{"bytes": asyncio.run(message_bytes())}]
        for _ in range(repeats):
            for name in names:
                # A process of its own each time: what one has left behind or broken is nobody else's.
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                    turn = fresh.submit(played, name, found.postgres.pid, turns)
                    try:
                        figures[f"overhead {name}"].append(asdict(turn.result()))
                    except Exception as error:  # noqa: BLE001  # a rival's, of any kind
                        figures[f"overhead {name}"].append(failure(error))
    return figures


def overhead_rows(figures: Figures, names: Sequence[str]) -> list[list[str]]:
    """Of each loop: milliseconds over the bare one early and late, wall and CPU."""
    bare, rows = _costs(figures, "bare"), []
    for name in names:
        if message := failed(figures[f"overhead {name}"]):
            rows.append([name, message])
            continue
        ours, row = _costs(figures, name), [name]
        for when in ("early", "late"):
            cost = median_cost(ours[when]) if name == "bare" else over(ours[when], bare[when])
            row += [f"{value:.2f}" for value in (cost.wall, cost.client, cost.postgres, cost.cpu)]
        rows.append(row)
    return rows


def written_rows(figures: Figures, names: Sequence[str]) -> list[list[str]]:
    """Of each loop: KB of WAL a turn in short and in long runs, and beyond the turn's messages."""
    message_kb, rows = figures["message"][0]["bytes"] / 1_000, []
    for name in names:
        if failed(figures[f"overhead {name}"]):
            continue
        short, long = (
            median(turn[key] for turn in figures[f"overhead {name}"]) / 1_000
            for key in ("written_short", "written_long")
        )
        beyond = "" if name == "bare" else f"{long - message_kb:.1f}"
        rows.append([name, f"{short:.1f}", f"{long:.1f}", beyond])
    return rows


def _costs(figures: Figures, name: str) -> dict[str, list[Cost]]:
    repeated = figures[f"overhead {name}"]
    return {when: [Cost(**turn[when]) for turn in repeated] for when in ("early", "late")}
