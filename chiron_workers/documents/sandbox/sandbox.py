"""Work on what strangers made in a process that may be killed: a parser that hangs, crashes or eats memory costs one job."""

import asyncio
import atexit
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from pydantic import ValidationError

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.fork_server import ANSWER_BYTES_MAX, REFUSED, result_adapter

T = TypeVar("T")

JOBS_MAX = max(4, os.cpu_count() or 4)  # at once in this process: each may take the memory of its limits
SERVERS_MAX = 2  # that one job finds dead
CANCEL_POLL_S = 0.1
PID_BYTES_MAX = 20
START_TIMEOUT_S = 60  # of the first job, which waits for the parsers to be imported

_threads = ThreadPoolExecutor(JOBS_MAX, thread_name_prefix="sandbox")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may take: time from its start, and memory beyond what its process begins with."""

    timeout_s: float = 60
    memory_bytes: int = 1_000_000_000


async def run_sandboxed(job: "partial[T]", *, limits: Limits) -> T:
    """What a function returns, called in a process of its own. Cancelling the wait kills the process.

    The function and its arguments are pickled to get there. What it returns comes back as JSON and is validated
    against its return hint, so that a parser that was taken over has no pickle to hand to this process.

    Raises:
        UnreadableError: The function raised it; or it took more time or memory than its limits allow, crashed, or raised
            any other error.
    """
    return await load_and_run_sandboxed(lambda: job, limits=limits)


async def load_and_run_sandboxed(load: "Callable[[], partial[T]]", *, limits: Limits) -> T:
    """The same for a function whose arguments are large: `load` gives it, called in a thread once there is a place
    for the job, so that no call holds a file's bytes while it waits for its turn.

    Raises:
        UnreadableError: As above.
        Exception: Whatever `load` raises.
    """
    started = _Job(load, limits)
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, started.run)
    finally:
        started.is_cancelled = True


def run_sandboxed_sync(job: "partial[T]", *, limits: Limits) -> T:
    """The same for callers without an event loop."""
    return _Job(lambda: job, limits).run()


class _Job(Generic[T]):
    def __init__(self, load: "Callable[[], partial[T]]", limits: Limits) -> None:
        self.is_cancelled = False
        self._load = load
        self._limits = limits

    def run(self) -> T:
        job = self._load()
        line, pid = self._fork_process()
        with line:
            try:
                line.send_bytes(pickle.dumps((self._limits.timeout_s, self._limits.memory_bytes)))
                line.send_bytes(pickle.dumps(job))
                job = partial(job.func)  # what it was given may be large, and its process has that now
                self._wait_for_data(line, self._limits.timeout_s)
                answer = line.recv_bytes(ANSWER_BYTES_MAX + 1)
            except (EOFError, OSError):
                raise UnreadableError("its parser crashed, perhaps for want of memory") from None
            except BaseException:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                raise
        if answer[:1] == REFUSED:
            raise UnreadableError(answer[1:].decode())
        try:
            return result_adapter(job).validate_json(answer[1:])  # type: ignore[no-any-return]
        except ValidationError:
            raise UnreadableError("its parser gave an answer that is none") from None

    def _fork_process(self) -> tuple[Connection, int]:
        for _ in range(SERVERS_MAX):
            line, server = _server.fork()
            try:
                self._wait_for_data(line, START_TIMEOUT_S)
                return line, int(line.recv_bytes(PID_BYTES_MAX))
            except (EOFError, OSError):  # somebody killed the server
                line.close()
                _server.end(server)
            except BaseException:
                line.close()
                raise
        raise UnreadableError("the process that would read it cannot be started")

    def _wait_for_data(self, line: Connection, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not line.poll(CANCEL_POLL_S):
            if self.is_cancelled:
                raise UnreadableError("nobody waits for it any more")
            if time.monotonic() > deadline:
                raise UnreadableError(f"reading it took more than {timeout_s:g} s")


class _Server:
    """The one server of this process, started by the first job and again after it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._calls: socket.socket | None = None

    def fork(self) -> tuple[Connection, socket.socket]:
        """A line to a new process that tells its id and waits for its job, and what to call the server by."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            server = self._running()
            with suppress(OSError):  # it is dead, and so is the line
                socket.send_fds(server, [b"j"], [theirs.fileno()])
            return Connection(ours.detach()), server

    def end(self, server: socket.socket | None = None) -> None:
        """End the server, or only that one if it is still the one."""
        with self._lock:
            if self._calls is not None and self._process is not None and server in (None, self._calls):
                self._calls.close()
                self._process.kill()
                self._process.wait()
                self._calls = self._process = None

    def _running(self) -> socket.socket:
        if self._calls is None:
            self._calls, theirs = socket.socketpair()
            with theirs:
                # Keys and passwords of the environment are no business of a parser.
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "chiron_workers.documents.sandbox.fork_server"],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
                    process_group=0,  # Ctrl+C is for this process, which ends it
                )
        return self._calls


_server = _Server()
atexit.register(_server.end)
