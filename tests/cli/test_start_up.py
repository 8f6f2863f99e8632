import subprocess
import sys

HEAVY = (
    "anthropic",
    "celery",
    "duckdb",
    "fastmcp",
    "mcp",
    "onnxruntime",
    "opentelemetry.sdk",
    "redis",
    "trafilatura",
)


def test_help_imports_no_library_that_only_some_commands_need() -> None:
    code = (
        "import sys, typer; from chiron_api.cli import build; typer.main.get_command(build()); "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
