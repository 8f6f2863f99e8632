"""The variables that the processes of a stack get: only workers and API get keys of providers."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from support.worker_processes import wait_until

from chiron_api.local_stack.ports import free_port
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.service_environment import flower_environment, service_environment
from chiron_api.local_stack.stack import LocalStack
from chiron_workers.settings import read_settings

SECRETS = {
    "ANTHROPIC_API_KEY": "sk-ant-of-this-test",
    "CHIRON_SEARCH_KEYS": '{"brave": "of-this-test"}',
    "CHIRON_SMTP_PASSWORD": "smtp-of-this-test",
    "CHIRON_EMBEDDING_API_KEY": "embedding-of-this-test",
    "AWS_SECRET_ACCESS_KEY": "aws-of-this-test",
    "HTTPS_PROXY": "http://user:proxy-of-this-test@127.0.0.1:9",
    "GITHUB_TOKEN": "mcp-of-this-test",
}
NEEDED = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "CHIRON_STACK_HOME": "/h", "SUPERVISOR_PROCESS_NAME": "valkey"}
FOR_FLOWER = {"CHIRON_REDIS_URL": "redis://", "CHIRON_FLOWER_PASSWORD": "x", "FLOWER_MAX_TASKS": "5"}


def test_a_service_gets_what_a_program_needs_and_no_key() -> None:
    assert service_environment(SECRETS | NEEDED | FOR_FLOWER) == NEEDED
    assert flower_environment(SECRETS | NEEDED | FOR_FLOWER) == NEEDED | FOR_FLOWER


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalStack]:
    """A stack of Postgres, Valkey and Flower that a command with all keys in its environment starts."""
    for name in [name for name in os.environ if name.startswith("CHIRON_")]:
        monkeypatch.delenv(name)
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    with tempfile.TemporaryDirectory(prefix="ch", ignore_cleanup_errors=True) as folder:
        monkeypatch.setenv("CHIRON_HOME", str(Path(folder) / "home"))
        monkeypatch.setenv("CHIRON_FLOWER_PORT", str(free_port()))
        stack = LocalStack(read_settings(_env_file=None), kinds=frozenset({Kind.FLOWER}), migrates=False)
        stack.start()
        yield stack
        stack.stop()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="a system without /proc")
def test_postgres_valkey_and_flower_hold_no_key_and_show_none(stack: LocalStack) -> None:
    parts = {part.kind: part.pid for part in stack.parts()}
    assert set(parts) == {Kind.POSTGRES, Kind.REDIS, Kind.FLOWER}
    wait_until(lambda: len(psutil.Process(parts[Kind.POSTGRES]).children()) > 3, what="Postgres's processes")
    for pid in parts.values():
        for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            text = Path(f"/proc/{process.pid}/environ").read_bytes().decode(errors="replace")
            assert [name for name, value in SECRETS.items() if name in text or value in text] == []
            assert "of-this-test" not in " ".join(process.cmdline())
