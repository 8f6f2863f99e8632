"""The fork server of the sandbox: it imports the parsers once and forks one process for each job.

A fork starts in milliseconds and shares no state with earlier jobs. Forking is safe: the only other thread is
DuckDB's, which sleeps. A parser's module may have a `warm_up`, which uses it once: what it makes at its first use (patterns,
schemas) is then there in every fork.
"""

import gc
import importlib
import os
import pickle
import resource
import signal
import socket
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.confinement import confine, end_with, readable_places
from chiron_workers.documents.sandbox.results import FAILURE, RESULT_BYTES_MAX, SUCCESS, result_adapter

PARSERS = (
    "chiron_workers.documents.read_file",
    "chiron_workers.documents.pdf",
    "chiron_workers.documents.docx",
    "chiron_workers.documents.tables.sheets",
    "chiron_workers.documents.html",
    "chiron_workers.web.page",
    "chiron_workers.web.robots",
    "chiron_workers.documents.tables.query",
    "docx",
    "duckdb",
    "protego",
    "pypdfium2",
    "python_calamine",
    "trafilatura",
)
OPEN_FILES_MAX = 64
SLACK_S = 2


def serve(requests: socket.socket) -> None:
    """Fork a process for each socket received, until the parent process closes the connection."""
    load_parsers()
    readable_places()  # once for all forks
    gc.freeze()  # A garbage collection in a fork would copy every memory page that it visits.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # Forks are reaped by the kernel.
    server = os.getpid()
    while True:
        _, descriptors, *_ = socket.recv_fds(requests, 1, 1)
        if not descriptors:
            return
        if os.fork() == 0:
            requests.close()
            end_with(server)
            with Connection(descriptors[0]) as connection:
                _run_job(connection)
            os._exit(0)
        os.close(descriptors[0])


def load_parsers() -> None:
    """Import the parsers, and use those once that have a `warm_up`."""
    for name in PARSERS:
        with suppress(ImportError):  # An optional parser; a file that needs it names the package.
            warm_up = getattr(importlib.import_module(name), "warm_up", None)
            if warm_up is not None:
                with suppress(Exception):  # One parser that does not work keeps no others from their files.
                    warm_up()


def _run_job(connection: Connection) -> None:
    with suppress(EOFError, OSError):  # The job was cancelled.
        connection.send_bytes(str(os.getpid()).encode())
        timeout_s, memory_bytes = pickle.loads(connection.recv_bytes())  # noqa: S301  # Sent by our own process.
        job_bytes = connection.recv_bytes()
        _apply_limits(timeout_s, memory_bytes)
        connection.send_bytes(_result(job_bytes, memory_bytes))


def _result(job_bytes: bytes, memory_bytes: int) -> bytes:
    try:
        job = pickle.loads(job_bytes)  # noqa: S301  # Imports what the job needs; a stranger's bytes are data in it.
        confine()
        payload = SUCCESS + result_adapter(job.func).dump_json(job())
    except UnreadableError as error:
        return FAILURE + str(error).encode(errors="replace")
    except MemoryError:
        return FAILURE + f"reading it takes more than {memory_bytes // 1_000_000:,} MB of memory".encode()
    except Exception as error:  # noqa: BLE001  # Parsers raise anything for malformed files.
        return FAILURE + f"it cannot be parsed ({type(error).__name__})".encode()
    return payload if len(payload) <= RESULT_BYTES_MAX else FAILURE + b"it holds more text than can be read"


def _apply_limits(timeout_s: float, memory_bytes: int) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, timeout_s + SLACK_S)  # In case the parent dies first.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, OPEN_FILES_MAX))
    resource.setrlimit(resource.RLIMIT_FSIZE, (memory_bytes, memory_bytes))  # of a file in memory, too
    if sys.platform == "linux":  # Other systems do not enforce RLIMIT_AS.
        address_space_max = _address_space_bytes() + memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (address_space_max, address_space_max))


def _address_space_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    serve(socket.socket(fileno=sys.stdin.fileno()))
