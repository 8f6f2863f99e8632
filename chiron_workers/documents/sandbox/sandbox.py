"""Parse untrusted files in forked processes with limits: a parser that hangs, crashes or eats memory costs one job."""

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
from chiron_workers.documents.sandbox.results import FAILURE, RESULT_BYTES_MAX, result_adapter

T = TypeVar("T")

JOBS_MAX = max(4, os.cpu_count() or 4)  # At once; each may take the memory of its limits.
SERVER_STARTS_MAX = 2  # For one job, if the server dies.
CANCEL_POLL_S = 0.1
PID_BYTES_MAX = 20
START_TIMEOUT_S = 60  # The first job waits for the parsers to be imported.

_threads = ThreadPoolExecutor(JOBS_MAX, thread_name_prefix="sandbox")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may use: time from its start, and memory beyond what its process starts with."""

    timeout_s: float = 60
    memory_bytes: int = 1_000_000_000


async def run_sandboxed(job: "partial[T]", *, limits: Limits) -> T:
    """Call a function in a process of its own and return its result. Cancelling kills the process.

    The function and its arguments are pickled. The result comes back as JSON and is validated against the return
    annotation, so that a compromised parser cannot send a pickle to this process.

    Raises:
        UnreadableError: The function raised it or any other error, exceeded its limits, or crashed.
    """
    return await load_and_run_sandboxed(lambda: job, limits=limits)


async def load_and_run_sandboxed(load: "Callable[[], partial[T]]", *, limits: Limits) -> T:
    """Like run_sandboxed, for large arguments: `load` returns the job and is called in a thread once the job may
    start, so that waiting calls hold no file in memory. Raises whatever `load` raises, too.
    """
    job = _SandboxJob(load, limits)
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, job.run)
    finally:
        job.is_cancelled = True


def run_sandboxed_sync(job: "partial[T]", *, limits: Limits) -> T:
    """Like run_sandboxed, for callers without an event loop."""
    return _SandboxJob(lambda: job, limits).run()


class _SandboxJob(Generic[T]):
    def __init__(self, load: "Callable[[], partial[T]]", limits: Limits) -> None:
        self.is_cancelled = False
        self._load = load
        self._limits = limits

    def run(self) -> T:
        job = self._load()
        connection, pid = self._fork_process()
        with connection:
            try:
                connection.send_bytes(pickle.dumps((self._limits.timeout_s, self._limits.memory_bytes)))
                connection.send_bytes(pickle.dumps(job))
                job = partial(job.func)  # Frees the arguments, which may be large.
                self._wait_for_data(connection, self._limits.timeout_s)
                payload = connection.recv_bytes(RESULT_BYTES_MAX + 1)
            except (EOFError, OSError):
                raise UnreadableError("its parser crashed, perhaps for want of memory") from None
            except BaseException:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                raise
        if payload[:1] == FAILURE:
            raise UnreadableError(payload[1:].decode())
        try:
            return result_adapter(job.func).validate_json(payload[1:])  # type: ignore[no-any-return]
        except ValidationError:
            raise UnreadableError("its parser gave an answer that is none") from None

    def _fork_process(self) -> tuple[Connection, int]:
        for _ in range(SERVER_STARTS_MAX):
            connection, server = _fork_server.fork()
            try:
                self._wait_for_data(connection, START_TIMEOUT_S)
                return connection, int(connection.recv_bytes(PID_BYTES_MAX))
            except (EOFError, OSError):  # The server was killed.
                connection.close()
                _fork_server.stop(server)
            except BaseException:
                connection.close()
                raise
        raise UnreadableError("the process that would read it cannot be started")

    def _wait_for_data(self, connection: Connection, timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while not connection.poll(CANCEL_POLL_S):
            if self.is_cancelled:
                raise UnreadableError("nobody waits for it any more")
            if time.monotonic() > deadline:
                raise UnreadableError(f"reading it took more than {timeout_s:g} s")


class _ForkServer:
    """The fork server of this process, started by the first job, and again if it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None

    def fork(self) -> tuple[Connection, socket.socket]:
        """Fork; the connection to the new process, which sends its id first, and the socket of its server."""
        parent_end, child_end = socket.socketpair()
        with child_end, self._lock:
            server = self._start()
            with suppress(OSError):  # The server died; reading the connection will show it.
                socket.send_fds(server, [b"j"], [child_end.fileno()])
            return Connection(parent_end.detach()), server

    def stop(self, server: socket.socket | None = None) -> None:
        """Stop the server; with `server`, only if that one is still current."""
        with self._lock:
            if self._requests is not None and self._process is not None and server in (None, self._requests):
                self._requests.close()
                self._process.kill()
                self._process.wait()
                self._requests = self._process = None

    def _start(self) -> socket.socket:
        if self._requests is None:
            self._requests, child_end = socket.socketpair()
            with child_end:
                # The environment holds keys and passwords, so parsers do not get it.
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "chiron_workers.documents.sandbox.fork_server"],
                    stdin=child_end.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
                    process_group=0,  # Ctrl+C reaches this process alone, which stops the server.
                )
        return self._requests


_fork_server = _ForkServer()
atexit.register(_fork_server.stop)
