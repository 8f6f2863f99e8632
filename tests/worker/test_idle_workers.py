"""What a worker that plays nothing has loaded: what few runs need is loaded by the first that needs it."""

import json
import subprocess
import sys
from types import SimpleNamespace

from support.worker_processes import environment

from chiron_workers.settings import Settings
from chiron_workers.worker.collector import THRESHOLDS

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
