"""The client is usable with no other part of Chiron imported."""

import subprocess
import sys

HEAVY = {
    "chiron_workers", "psycopg", "celery", "kombu", "redis", "anthropic", "numpy", "fastapi", "starlette", "typer",
    "mcp", "aiohttp", "onnxruntime", "duckdb", "pydantic_settings",
}  # fmt: skip


def modules_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has imported after some code."""
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_the_client_imports_nothing_else_of_chiron_and_nothing_heavy():
    modules = modules_after("from chiron_api.client import *\nwith Chiron('http://127.0.0.1:1'): pass")
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    ours = {name for name in modules if name.startswith("chiron_api.")}
    assert all(name == "chiron_api.client" or name.startswith("chiron_api.client.") for name in ours)


def test_the_models_alone_import_no_http():
    modules = modules_after("import chiron_api.client.models.runs")
    assert "httpx2" not in modules


def test_every_name_of_the_package_can_be_imported():
    modules_after(
        "from chiron_api.client import *\nimport chiron_api.client as c\nfor n in c.__all__: getattr(c, n)"
    )
