"""Worker processes under a supervisor that starts another wherever one ends, as everybody runs them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from crashes.services import Services

TOOLS = Path(__file__).with_name("tools")
STOP_S = 120.0  # for a worker that is asked to end


@dataclass(slots=True)
class Worker:
    """One process. `name` is its address at the model server, too, and no other process ever has it."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    ended_by: str = ""

    def is_ready(self) -> bool:
        """Whether it has begun to listen to the broker."""
        return " ready." in self.log.read_text(errors="replace")


@dataclass(frozen=True, slots=True)
class Crash:
    """A worker that was killed at a moment, or stopped until another (seconds of `time.time()`)."""

    worker: str
    kind: str
    at: float
    until: float


@dataclass(slots=True)
class Fleet:
    """As many workers as asked for, each replaced when it ends."""

    services: Services
    slots: int
    environment: Mapping[str, str]
    current: list[Worker] = field(default_factory=list)
    past: list[Worker] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)
    _watching: bool = True

    def kill(self, place: int) -> Crash:
        """SIGKILL a worker and start another in its place."""
        worker = self.current[place]
        worker.ended_by = "kill"
        worker.process.kill()
        crash = Crash(worker.name, "kill", time.time(), time.time())
        self.crashes.append(crash)
        worker.process.wait()
        self.replace(place)
        return crash

    def pause(self, place: int, *, seconds: float) -> None:
        """SIGSTOP a worker and let it go on after a while."""
        worker = self.current[place]
        worker.process.send_signal(signal.SIGSTOP)
        at = time.time()
        time.sleep(seconds)
        self.crashes.append(Crash(worker.name, "stop", at, time.time()))
        worker.process.send_signal(signal.SIGCONT)

    def restart(self, place: int) -> int:
        """SIGTERM a worker and start another once it has ended; its exit code."""
        worker = self.current[place]
        worker.ended_by = "restart"
        worker.process.terminate()
        code = worker.process.wait(STOP_S)
        self.replace(place)
        return code

    def replace(self, place: int) -> None:
        self.past.append(self.current[place])
        self.current[place] = self._started(place)

    def stop(self) -> list[str]:
        """SIGTERM all workers; a sentence for each that was at work and did not end well."""
        self._watching = False
        for worker in self.current:
            worker.ended_by = worker.ended_by or "stop"
            worker.process.terminate()
        codes = [(worker, worker.process.wait(STOP_S)) for worker in self.current]
        # Python that is still loading knows no SIGTERM.
        return [f"{worker.name} ended with {code}" for worker, code in codes if code and worker.is_ready()]

    def end(self) -> None:
        self._watching = False
        for worker in self.current:
            if worker.process.poll() is None:
                worker.process.send_signal(signal.SIGCONT)
                worker.process.kill()
                worker.process.wait()

    def watch(self) -> None:
        """Start another worker wherever one ended by itself."""
        while self._watching:
            time.sleep(0.5)
            for place, worker in enumerate(self.current):
                if self._watching and not worker.ended_by and worker.process.poll() is not None:
                    worker.ended_by = f"itself, with {worker.process.returncode}"
                    self.replace(place)

    def _started(self, place: int) -> Worker:
        number = sum(worker.name.startswith(f"w{place + 1}-") for worker in self.past) + 1
        name = f"w{place + 1}-{number}"
        log = self.services.folder / f"{name}.log"
        command = [sys.executable, "-m", "celery", "-A", "chiron_workers", "worker", "-n", f"{name}@crash"]
        address = {"ANTHROPIC_BASE_URL": f"{self.services.model_url}/{name}", "ANTHROPIC_API_KEY": "test"}
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*command, "-c", str(self.slots)],
                env={
                    **os.environ,
                    "CHIRON_TOOLS": str(TOOLS),
                    **self.environment,
                    **address,
                    "PYTHONUNBUFFERED": "1",
                },
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.services.folder,
            )
        return Worker(name, process, log)


@contextmanager
def fleet(services: Services, *, workers: int, slots: int, **environment: str) -> Iterator[Fleet]:
    """Workers until the block ends; whatever still runs then is killed."""
    found = Fleet(services, slots, environment)
    try:
        for place in range(workers):
            found.current.append(found._started(place))
        threading.Thread(target=found.watch, name="supervisor", daemon=True).start()
        yield found
    finally:
        found.end()
