import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from chiron_api.cli import raise_on_sigterm

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
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert process.stdout.strip() == "[]"


@pytest.fixture
def restored_handlers() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("restored_handlers")
def test_a_command_ends_by_sigterm_as_by_ctrl_c_and_goes_on_under_nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    raise_on_sigterm()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
