"""Work on what strangers made in a process that may be killed: a parser that hangs, crashes or eats memory costs one job."""

import asyncio
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from chiron_workers.sources.document import UnreadableError

T = TypeVar("T")

JOBS_MAX = 4  # at once in this process: each may take its room's memory
ANSWER_BYTES_MAX = 200_000_000
OPEN_FILES_MAX = 64
STOP_LOOK_S = 0.1
DEADLINE_SLACK_S = 2
# A fork of a server that has imported the parsers starts in milliseconds, and holds nothing of the job before it.
PARSERS = (
    "chiron_workers.sources.apart",
    "chiron_workers.sources.page",
    "chiron_workers.sources.robots",
    "protego",
    "pypdfium2",
    "trafilatura",
)
OK, REFUSED = b"+", b"-"

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(list(PARSERS))
_threads = ThreadPoolExecutor(JOBS_MAX, thread_name_prefix="apart")
_starting = threading.Lock()


@dataclass(frozen=True, slots=True)
class Room:
    """What a job may take: time from its start, and memory beyond what its process begins with."""

    timeout_s: float = 60
    memory_bytes: int = 1_000_000_000


async def run_apart(job: "partial[T]", *, room: Room) -> T:
    """What a function returns, called in a process of its own. Cancelling the wait kills the process.

    The function and its arguments are pickled to get there. What it returns comes back as JSON and is validated
    against its return hint, so that a parser that was taken over has no pickle to hand to this process.

    Raises:
        UnreadableError: The function raised it; or it took more time or memory than its room, crashed, or raised
            any other error.
    """
    started = _Job(job, room)
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, started.run)
    finally:
        started.is_unwanted = True


def wait_apart(job: "partial[T]", *, room: Room) -> T:
    """The same for callers without an event loop."""
    return _Job(job, room).run()


class _Job(Generic[T]):
    def __init__(self, job: "partial[T]", room: Room) -> None:
        self.is_unwanted = False
        self._job = job
        self._room = room

    def run(self) -> T:
        ends, begins = _forks.Pipe(duplex=False)
        process = _forks.Process(target=_child, args=(begins, self._room, self._job), daemon=True)
        with ends:
            try:
                with begins, _starting:
                    process.start()
                return self._answer(ends)
            except EOFError:
                process.join(DEADLINE_SLACK_S)
                raise UnreadableError(_crash(process.exitcode)) from None
            except OSError as error:
                raise UnreadableError(
                    f"no process could be started to read it ({error.strerror or error})"
                ) from None
            finally:
                _end(process)

    def _answer(self, ends: Connection) -> T:
        deadline = time.monotonic() + self._room.timeout_s
        while not ends.poll(STOP_LOOK_S):
            if self.is_unwanted:
                raise UnreadableError("nobody waits for it any more")
            if time.monotonic() > deadline:
                raise UnreadableError(f"reading it took more than {self._room.timeout_s:g} s")
        answer = ends.recv_bytes(ANSWER_BYTES_MAX)
        if answer[:1] == REFUSED:
            raise UnreadableError(answer[1:].decode())
        try:
            return _adapter(self._job).validate_json(answer[1:])
        except ValidationError:
            raise UnreadableError("its parser gave an answer that is none") from None


def _end(process: Any) -> None:
    if process.pid is not None:
        process.kill()
        process.join()
    process.close()


def _adapter(job: "partial[T]") -> TypeAdapter[T]:
    return TypeAdapter(get_type_hints(job.func)["return"])


def _child(begins: Connection, room: Room, job: "partial[Any]") -> None:
    _confine(room)
    try:
        answer = OK + _adapter(job).dump_json(job())
    except UnreadableError as error:
        answer = REFUSED + str(error).encode(errors="replace")
    except MemoryError:
        answer = REFUSED + _too_much(room).encode()
    except Exception as error:  # noqa: BLE001  # whatever a parser raises for what it cannot follow
        answer = REFUSED + f"it cannot be parsed ({type(error).__name__})".encode()
    if len(answer) > ANSWER_BYTES_MAX:
        answer = REFUSED + b"it holds more text than can be read"
    with suppress(BrokenPipeError):  # nobody waits for it any more
        begins.send_bytes(answer)


def _confine(room: Room) -> None:
    os.environ.clear()  # keys and passwords are no business of a parser
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(silence, stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(
        signal.ITIMER_REAL, room.timeout_s + DEADLINE_SLACK_S
    )  # for when nobody is left to kill it
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES_MAX, OPEN_FILES_MAX))
    if sys.platform == "linux":  # elsewhere the system does not hold a process to it
        most = _address_space_bytes() + room.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _address_space_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _crash(code: int | None) -> str:
    if code is None or code >= 0:
        return "its parser ended without an answer"
    return f"its parser crashed ({signal.Signals(-code).name}), perhaps for want of memory"


def _too_much(room: Room) -> str:
    return f"reading it takes more than {room.memory_bytes // 1_000_000:,} MB of memory"
