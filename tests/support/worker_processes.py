"""Real Celery workers as processes, and a look at what they leave in Postgres."""

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from chiron_workers.settings import Settings
from support import forked_python

LOOK_S = 0.005  # between two looks at a condition


@dataclass
class Worker:
    """One worker process."""

    process: "subprocess.Popen[bytes]"
    log: Path

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self, timeout_s: float = 90) -> int:
        self.process.terminate()
        return self.process.wait(timeout_s)

    def has_said(self, words: str) -> bool:
        return words in self.log.read_text()


def environment(settings: Settings, **more: str) -> dict[str, str]:
    """The environment of a process that uses the test's services and table of sources; nothing of the developer's own."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("CHIRON_", "ANTHROPIC_"))
    }
    return {
        **kept,
        "CHIRON_HOME": str(settings.home),
        "CHIRON_DATABASE_URL": settings.database_url,
        "CHIRON_REDIS_URL": settings.redis_url,
        "CHIRON_BROKER_URL": settings.broker_url,
        "CHIRON_MODEL": settings.model,
        "CHIRON_SOURCE_KINDS": str(Path(__file__).with_name("source_kinds.toml")),
        "PYTHONUNBUFFERED": "1",
        **more,
    }


@contextmanager
def running(settings: Settings, *arguments: str, name: str = "w1", **env: str) -> Iterator[Worker]:
    """A worker started as everybody starts one by hand; killed at the end if it still runs."""
    log = settings.home / f"{name}.log"
    command = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "chiron_workers",
        "worker",
        "-n",
        f"{name}@test",
        "--without-mingle",  # Celery would ask other workers for a second what tasks are revoked.
        *arguments,
    ]
    with log.open("wb") as out:
        process = forked_python.Popen(
            command, env=environment(settings, **env), stdout=out, stderr=subprocess.STDOUT, cwd=settings.home
        )
    try:
        yield Worker(process, log)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait()


def chiron(
    settings: Settings, *arguments: str, stdin: str | None = None, timeout_s: float = 60, **env: str
) -> "subprocess.CompletedProcess[str]":
    """The `chiron` command as a person runs it."""
    source: dict[str, Any] = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
    return forked_python.run(
        [sys.executable, "-m", "chiron_api", *arguments],
        **source,
        env=environment(settings, **env),
        timeout=timeout_s,
        cwd=settings.home,
    )


def rows(settings: Settings, query: str, args: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """What a query finds; as cheap as its own work, so that a condition may be looked at often."""
    return _reader.read(settings.database_url, query, args)


class _Reader:
    """Reads on a connection that is kept: a new one costs Postgres as much as a hundred looks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[dict[str, Any]] | None = None
        self._url = ""

    def read(self, url: str, query: str, args: Sequence[Any]) -> list[dict[str, Any]]:
        with self._lock:
            if self._connection is not None and self._url == url:
                try:
                    return self._connection.execute(query, args).fetchall()  # type: ignore[arg-type]
                except psycopg.OperationalError:  # where the test before, or this one, ended it
                    if not self._connection.broken:
                        raise
            self.close()
            self._url, self._connection = (
                url,
                psycopg.connect(url, autocommit=True, row_factory=dict_row, prepare_threshold=None),
            )
            return self._connection.execute(query, args).fetchall()  # type: ignore[arg-type]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


_reader = _Reader()
atexit.register(_reader.close)


def end_leases(settings: Settings, of: Worker | None = None) -> int:
    """As if the leases of all runs had run out, or those of one worker; how many. Rows move, clocks never."""
    query = "update runs set leased_until = now() - interval '1 s' where state = 'running' and worker like %s returning 1"
    return len(rows(settings, query, [f"%:{of.process.pid}" if of else "%"]))


def wait_until(condition: Callable[[], Any], timeout_s: float = 240, what: str = "") -> Any:
    """The first true value of a condition, looked at often; fails the test when time is up.

    The time only keeps a test from hanging: a machine that is slow, or stands still for seconds, must not end it.
    """
    give_up_at = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < give_up_at, f"not within {timeout_s} s: {what}"
        time.sleep(LOOK_S)
    return found
