"""Several workers under one process: `python -P -m chiron_workers.worker.processes COUNT NAME CONCURRENCY LOGLEVEL`.

It takes the place of `chiron worker` where that is to start more than one, and imports next to nothing.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType

from chiron_workers.worker.names import host_name

STEADY_S = 60.0  # a worker that ends sooner could not start: a slow disk takes long to load everything
PAUSE_MIN_S = 1.0  # before a worker that has ended is started again; twice as long after each start in vain
PAUSE_MAX_S = 60.0
INTERVAL_S = 0.2


class WorkerProcess:
    """One of the workers, which is started again when it ends."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._began_at = 0.0
        self._pause_s = 0.0  # 0: it has not been steady yet

    def start(self) -> None:
        """Start it in a group of its own: the Ctrl+C of a terminal reaches it once, from here."""
        self._began_at = time.monotonic()
        self._process = subprocess.Popen(self._command, process_group=0)

    def look_after(self, start: "Callable[[WorkerProcess], None]") -> int | None:
        """Have it started again some time after it ended. Returns what it ended with if it could not even start once."""
        code, age_s = self.exit_code(), time.monotonic() - self._began_at
        if code is None:
            if age_s >= STEADY_S:
                self._pause_s = PAUSE_MIN_S
        elif not self._pause_s:
            return code
        elif age_s >= self._pause_s:
            sys.stderr.write(f"chiron: a worker ended with {code} and is started again.\n")
            self._pause_s = min(2 * self._pause_s, PAUSE_MAX_S)
            start(self)
        return None

    def exit_code(self) -> int | None:
        """What it has ended with; None while it runs."""
        return None if self._process is None else self._process.poll()

    def terminate(self) -> None:
        """Have it drain."""
        if self._process is not None:
            self._process.terminate()

    def wait(self) -> int:
        """What it ends with, once it has; 0 if it was never started."""
        return 0 if self._process is None else self._process.wait()


class WorkerProcesses:
    """Keeps workers running until a signal, or one that cannot start, has all of them drain."""

    def __init__(self, commands: Sequence[Sequence[str]]) -> None:
        self._workers = [WorkerProcess(command) for command in commands]
        self._is_stopping = False

    def run(self) -> int:
        """Run until all have ended; 0 if each drained as it should."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        for worker in self._workers:
            self._start(worker)
        codes: list[int] = []
        while not self._is_stopping:
            for worker in self._workers:
                if (code := worker.look_after(self._start)) is not None:
                    codes.append(code)
                    self._stop(signal.SIGTERM, None)
                    break
            time.sleep(INTERVAL_S)
        codes += [worker.wait() for worker in self._workers]
        return next((code if code > 0 else 1 for code in codes if code), 0)

    def _start(self, worker: WorkerProcess) -> None:
        if not self._is_stopping:
            worker.start()
        if self._is_stopping:  # a signal came while it started
            worker.terminate()

    def _stop(self, number: int, _: FrameType | None) -> None:
        # A second signal reaches the workers too: Celery then abandons the runs.
        self._is_stopping = True
        for worker in self._workers:
            worker.terminate()


def commands(count: int, *, name: str, concurrency: str, log_level: str) -> list[list[str]]:
    """The commands of so many workers. The ids of this process and of a container make their names unique on a broker."""
    return [
        [
            sys.executable, "-P", "-m", "chiron_workers", "worker",
            "-n", f"{name}-{number}-{os.getpid()}@{host_name()}",
            "--concurrency", concurrency, "--loglevel", log_level,
        ]
        for number in range(1, count + 1)
    ]  # fmt: skip


if __name__ == "__main__":
    count, name, concurrency, log_level = sys.argv[1:]
    workers = commands(int(count), name=name, concurrency=concurrency, log_level=log_level)
    sys.exit(WorkerProcesses(workers).run())
