"""The server that sandbox.py starts: it has imported the parsers, and forks a process for each job that comes in.

A fork starts in milliseconds and holds nothing of the job before it. The server has no second thread that does anything
(importing DuckDB starts one, which sleeps), so forking is safe.
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
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter

from chiron_workers.documents.document import UnreadableError

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
ANSWER_BYTES_MAX = 200_000_000
OPEN_FILES_MAX = 64
SLACK_S = 2
ANSWERED, REFUSED = b"+", b"-"


def serve(calls: socket.socket) -> None:
    """Fork for every socket that comes in, until whoever started this server is gone."""
    for name in PARSERS:
        with suppress(ImportError):  # a file that needs it will say so
            importlib.import_module(name)
    gc.freeze()  # a collection in the forks would copy every page that it looks at
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    while True:
        _, descriptors, *_ = socket.recv_fds(calls, 1, 1)
        if not descriptors:
            return
        if os.fork() == 0:
            calls.close()
            with Connection(descriptors[0]) as line:
                _answer(line)
            os._exit(0)
        os.close(descriptors[0])


def result_adapter(job: "partial[Any]") -> TypeAdapter[Any]:
    """What turns a job's result into JSON and back, by the return hint of its function."""
    return TypeAdapter(get_type_hints(job.func)["return"])


def _answer(line: Connection) -> None:
    with suppress(EOFError, OSError):  # nobody waits for it any more
        line.send_bytes(str(os.getpid()).encode())
        timeout_s, memory_bytes = pickle.loads(line.recv_bytes())  # noqa: S301  # from our own process
        pickled = line.recv_bytes()
        _confine(timeout_s, memory_bytes)
        line.send_bytes(_result(pickled, memory_bytes))


def _result(pickled: bytes, memory_bytes: int) -> bytes:
    try:
        job = pickle.loads(pickled)  # noqa: S301
        answer = ANSWERED + result_adapter(job).dump_json(job())
    except UnreadableError as error:
        return REFUSED + str(error).encode(errors="replace")
    except MemoryError:
        return REFUSED + f"reading it takes more than {memory_bytes // 1_000_000:,} MB of memory".encode()
    except Exception as error:  # noqa: BLE001  # whatever a parser raises for what it cannot follow
        return REFUSED + f"it cannot be parsed ({type(error).__name__})".encode()
    return answer if len(answer) <= ANSWER_BYTES_MAX else REFUSED + b"it holds more text than can be read"


def _confine(timeout_s: float, memory_bytes: int) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, timeout_s + SLACK_S)  # for when nobody is left to kill it
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, OPEN_FILES_MAX))
    if sys.platform == "linux":  # elsewhere the system does not hold a process to it
        most = _address_space_bytes() + memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _address_space_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    serve(socket.socket(fileno=sys.stdin.fileno()))
