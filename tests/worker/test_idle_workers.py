"""What a worker that plays nothing has loaded: what few runs need is loaded by the first that needs it."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support.worker_processes import environment

from chiron_workers.settings import Settings
from chiron_workers.worker.memory import ARENAS_MAX, THRESHOLDS

# The start of a worker as Celery has it, and then what the process is made of.
PROGRAM = """
import gc, json, sys
from celery import signals
from chiron_workers import tasks
class Consumer: concurrency = 1
signals.worker_init.send(sender=Consumer)
print(json.dumps({"modules": sorted(sys.modules), "frozen": gc.get_freeze_count(), "thresholds": gc.get_threshold()}))
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


def idle_worker(settings: Settings) -> SimpleNamespace:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment(settings),
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
        cwd=settings.home,
    )
    return SimpleNamespace(**json.loads(done.stdout))


def test_an_idle_worker_has_loaded_nothing_that_only_some_runs_need(settings: Settings) -> None:
    modules = idle_worker(settings).modules
    assert "chiron_workers.worker.host" in modules
    assert [name for name in LAZY if name in modules] == []


def test_an_idle_worker_leaves_what_it_started_with_out_of_collections(settings: Settings) -> None:
    worker = idle_worker(settings)
    assert worker.frozen > 100_000
    assert tuple(worker.thresholds) == THRESHOLDS


def test_threads_share_what_the_c_library_allocates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    arenas = subprocess.run(
        [sys.executable, "-c", THREADS], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    assert arenas.count("<heap nr=") <= ARENAS_MAX
