"""What a worker that plays nothing has loaded: what few runs need is loaded by the first that needs it."""

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest
from support import bare_interpreter
from support.databases import Databases
from support.worker_processes import environment

from chiron_workers.settings import Settings
from chiron_workers.worker.memory import ARENAS_MAX, THRESHOLDS

# The start of a worker as Celery has it, and then what the process is made of.
PROGRAM = """
import gc, json
from celery import signals
from chiron_workers import tasks
class Consumer: concurrency = 1
signals.worker_init.send(sender=Consumer)
print(json.dumps({"frozen": gc.get_freeze_count(), "thresholds": gc.get_threshold()}))
tasks.host().stop()
"""
# Threads that each hold some memory of the C library, and its arenas (glibc lists them as XML).
THREADS = """
import ctypes, platform, threading
from chiron_workers.worker.memory import share_arenas
share_arenas()
barrier = threading.Barrier(31)
def hold():
    memory = bytearray(50_000)
    barrier.wait()
    barrier.wait()
for _ in range(30):
    threading.Thread(target=hold).start()
barrier.wait()
libc = ctypes.CDLL(None)
if platform.libc_ver()[0] == "glibc":
    libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
    libc.fflush(None)
barrier.wait()
"""
LAZY = (
    *("anthropic", "httpx2", "numpy", "onnxruntime", "tokenizers", "spellchecker", "genai_prices"),
    *("lxml", "trafilatura", "pypdfium2", "docx", "openpyxl", "duckdb", "charset_normalizer"),
    *("fastmcp", "mcp", "fastapi", "aiosmtplib", "chiron_workers.offline", "opentelemetry.exporter"),
    *("flower", "tornado", "prompt_toolkit"),
)


@dataclass(frozen=True)
class IdleWorker:
    modules: frozenset[str]
    frozen: int
    thresholds: tuple[int, ...]


@pytest.fixture(scope="module")
def idle_worker(databases: Databases, valkey: str, tmp_path_factory: pytest.TempPathFactory) -> IdleWorker:
    home = tmp_path_factory.mktemp("home")
    with databases.lend() as url:
        settings = Settings(_env_file=None, home=home, database_url=url, redis_url=valkey, model="offline")  # type: ignore[call-arg]
        outcome = bare_interpreter.run(PROGRAM, env=environment(settings))
    # On a busy machine the worker logs that it was held up.
    line = next(line for line in outcome.output.splitlines() if line.startswith("{"))
    return IdleWorker(modules=outcome.modules, **json.loads(line))


def test_an_idle_worker_has_loaded_nothing_that_only_some_runs_need(idle_worker: IdleWorker) -> None:
    assert "chiron_workers.worker.host" in idle_worker.modules
    assert [name for name in LAZY if name in idle_worker.modules] == []


def test_an_idle_worker_leaves_what_it_started_with_out_of_collections(idle_worker: IdleWorker) -> None:
    assert idle_worker.frozen > 100_000
    assert tuple(idle_worker.thresholds) == THRESHOLDS


def test_threads_share_what_the_c_library_allocates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    arenas = subprocess.run(
        [sys.executable, "-c", THREADS], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    assert arenas.count("<heap nr=") <= ARENAS_MAX
