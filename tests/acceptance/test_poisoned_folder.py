"""Workers and Flower, started in a folder where somebody left modules with the names of those that Chiron imports."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from support.worker_processes import environment, wait_until

from chiron_api.local_stack.ports import free_port
from chiron_workers.settings import Settings


@pytest.fixture
def poisoned(tmp_path: Path) -> Path:
    """A folder with a module for every library, each of which leaves its name in `run` when it is imported."""
    folder = tmp_path / "poisoned"
    folder.mkdir()
    names = {*packages_distributions(), *sys.stdlib_module_names}
    for name in (name for name in names if name.isidentifier()):
        told = f"open({str(tmp_path / 'run')!r}, 'a').write({name + ' '!r})\nraise ImportError('poisoned')\n"
        (folder / f"{name}.py").write_text(told)
    return folder


@contextmanager
def started(folder: Path, log: Path, command: list[str], env: dict[str, str]) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT, cwd=folder)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(90)
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize(("part", "ready"), [("worker", " ready."), ("flower", "Connected to redis")])
def test_nothing_is_imported_from_the_current_folder(
    settings: Settings, poisoned: Path, tmp_path: Path, part: str, ready: str
) -> None:
    log = tmp_path / "log"
    env = environment(settings, CHIRON_FLOWER_PORT=str(free_port()), ANTHROPIC_API_KEY="test")
    with started(poisoned, log, [sys.executable, "-P", "-m", "chiron_api", part], env):
        wait_until(lambda: ready in log.read_text() or (tmp_path / "run").exists(), what=f"{part} is ready")
        assert not (tmp_path / "run").exists(), (tmp_path / "run").read_text()
        assert ready in log.read_text()
