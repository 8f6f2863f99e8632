"""One round of `rivals_crash.py`: a process is killed or stopped at a random turn, and another goes on with its runs."""

import asyncio
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import psutil
import psycopg
from calls import Again, CallLog, Noted, answered_again, until_next_call
from concurrency import HERE, Asked, enqueue, started, states_of, worker
from look_up import SQL
from rivals_overhead import PIPELINE
from services import Services

PATIENCE_S = 180.0
LOOK_EVERY_S = 0.005
TAKEN_OVER = 3  # calls of the new process for each run before the stopped one goes on
QUIET_S = 3.0  # without a call, once the runs have ended, a zombie has done what it would


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one round showed: answers given again, rows doubled or missing, seconds until each run's next call."""

    again: Again
    doubled: int
    missing: int
    next_call_s: list[float]


@dataclass(slots=True)
class Round:
    """The runs of one round, played by one process and then by another."""

    name: str
    found: Services
    asked: Asked
    out: IO[str]
    log: CallLog
    processes: ExitStack
    tag: str = field(default_factory=lambda: uuid4().hex[:8])
    batch_id: Any = None
    noted: list[Noted] = field(default_factory=list)

    def start(self) -> psutil.Process:
        """A process that plays the runs, or goes on with them."""
        if self.name == PIPELINE:
            command, more = worker(f"crash{uuid4().hex[:8]}", self.asked)
            process = self.processes.enter_context(started(command, self.out, **more))
            if self.batch_id is None:
                self.batch_id = asyncio.run(enqueue(self.found, self.asked))
            return process
        command = [sys.executable, str(HERE / "loops.py"), self.name]
        command += ["--runs", str(self.asked.runs), "--tag", self.tag]
        return self.processes.enter_context(started(command, self.out))

    def is_over(self, process: psutil.Process) -> bool:
        """Whether every run has ended; raises SystemExit if one cannot."""
        if self.name == PIPELINE:
            with psycopg.connect(self.found.settings.database_url) as connection:
                return states_of(connection, self.batch_id).keys() <= {"completed"}
        if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            return False
        if process.wait(0) != 0:
            raise SystemExit(f"{self.name} failed:\n{Path(self.out.name).read_text()[-2_000:]}")
        return True

    def calls(self) -> int:
        """How many calls the model server has received in this round."""
        self.noted += self.log.news()
        return sum(line.event == "received" for line in self.noted)

    def until(self, is_so: Callable[[], bool]) -> None:
        give_up_at = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > give_up_at:
                raise SystemExit(f"{self.name} is stuck:\n{Path(self.out.name).read_text()[-2_000:]}")
            time.sleep(LOOK_EVERY_S)

    def outcome(self, stopped_at: float) -> Outcome:
        self.calls()
        with psycopg.connect(self.found.settings.database_url) as connection:
            rows = connection.execute(SQL["kept"]).fetchone()
            assert rows is not None
            connection.execute(SQL["forget"])
        wanted = self.asked.runs * (self.asked.turns - 1)  # the last turn calls no tool
        again = answered_again(self.noted, stopped_at=stopped_at)
        waited = until_next_call(self.noted, stopped_at=stopped_at)
        return Outcome(again, doubled=rows[0] - rows[1], missing=wanted - rows[1], next_call_s=waited)


def kill(one: Round, chance: random.Random) -> Outcome:
    """SIGKILL at a random turn, and a new process at once."""
    stopped_at = _stop(one, one.start(), signal.SIGKILL, chance)
    process = one.start()
    one.until(lambda: one.is_over(process))
    return one.outcome(stopped_at)


def zombie(one: Round, chance: random.Random) -> Outcome:
    """SIGSTOP at a random turn, a new process that takes over, and then SIGCONT."""
    first = one.start()
    stopped_at = _stop(one, first, signal.SIGSTOP, chance)
    second, known = one.start(), one.calls()
    one.until(lambda: one.calls() >= known + TAKEN_OVER * one.asked.runs or one.is_over(second))
    first.send_signal(signal.SIGCONT)
    one.until(lambda: one.is_over(second))
    one.until(lambda: one.calls() >= 0 and time.time() - one.noted[-1].at > QUIET_S)
    return one.outcome(stopped_at)


def _stop(one: Round, process: psutil.Process, how: signal.Signals, chance: random.Random) -> float:
    # The later turns are left out: with few of them open a stop would meet few runs.
    wanted = chance.randint(1, one.asked.runs * one.asked.turns * 2 // 3)
    one.until(lambda: one.calls() >= wanted)
    time.sleep(chance.uniform(0, 2 * one.asked.latency_s))
    stopped_at = time.time()
    process.send_signal(how)
    return stopped_at
