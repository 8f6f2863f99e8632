"""What a hostile file may do to its parser, as functions that the process for such work can import."""

import ctypes
import os
import signal
import sys
import time
from typing import Any

from chiron_workers.documents.document import Block, Document, UnreadableError
from chiron_workers.documents.sandbox.results import result_adapter
from chiron_workers.documents.sandbox.sandbox import Limits
from chiron_workers.documents.tables.load import TableFile
from chiron_workers.documents.tables.query import QueryAnswer, query_tables


def says(word: str) -> Document:
    return Document("a title", (Block(word),))


def process_id() -> int:
    return os.getpid()


def made_before() -> int:
    """For how many other jobs this process has made what writes their results."""
    return result_adapter.cache_info().currsize - 1


def sleeps() -> int:
    time.sleep(60)
    return 1


def sleeps_without_alarm() -> int:
    signal.setitimer(signal.ITIMER_REAL, 0)
    ctypes.CDLL(None).prctl(1, 0)  # PR_SET_PDEATHSIG: no signal when the parent dies
    time.sleep(600)  # Longer than a test waits.
    return 1


def hangs() -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGALRM})
    while True:
        time.sleep(60)


def crashes() -> int:
    return ctypes.string_at(0)[0]


def leaves() -> int:
    os._exit(0)


def eats_memory() -> int:
    return len(b"x" * 4_000_000_000)


def eats_memory_in_c() -> int:
    held = []
    while True:
        found = ctypes.CDLL(None).malloc(50_000_000)
        if not found:
            os.abort()
        held.append(found)


def eats_memory_in_a_file() -> int:
    descriptor = os.memfd_create("pages")
    return sum(os.write(descriptor, b"x" * 50_000_000) for _ in range(12))


def refuses() -> int:
    raise UnreadableError("it is a picture")


def stumbles() -> int:
    raise RecursionError("secret words of the file")


def exits() -> int:
    sys.exit(3)


def environment() -> dict[str, str]:
    return dict(os.environ)


def chatters() -> int:
    print("on standard output")
    os.write(1, b"from C\n")
    os.write(2, b"from C\n")
    return 1


def lies() -> int:
    answer: Any = {"no": "number"}
    return answer


def answers_with_too_much() -> str:
    return "x" * 300_000_000


def all_queries(files: tuple[TableFile, ...], queries: list[str], limits: Limits) -> list[QueryAnswer]:
    return [query_tables(files, query, rows_max=10, limits=limits) for query in queries]
