"""Workers of an earlier commit: its own code out of the history, with this checkout's interpreter and dependencies."""

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chiron_workers.settings import Settings
from support.worker_processes import Worker, environment

NUMBERED_LEASES = (
    "ecd06c3aa05763c0c32b131da31f4ac4c74504f4"  # tells the executions of a run apart by number alone
)
ONE_ROW_A_BATCH = (
    "bcb50ef25f52c0c2e8aab81896fe1b110eb38a02"  # counts what a batch costs in the row of the batch
)
REPOSITORY = Path(__file__).parents[2]
# What a worker imports, and where from. Celery imports the tasks once it runs; they bring in nearly all the rest.
ORIGINS = """
import json, sys
import chiron_workers.tasks, chiron_workers.worker.host
modules = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("chiron_") and module.__file__}
print(json.dumps(modules))
"""


def unpack_commit(commit: str, folder: Path) -> Path:
    """The code of a commit, in a new folder; skips the test where the history does not have it, as in a shallow clone."""
    archive = subprocess.run(
        ["git", "archive", "--format=tar", commit, "chiron_workers", "chiron_api"],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        pytest.skip(f"commit {commit} is not in the history of this clone: {archive.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def origins(code: Path, settings: Settings) -> dict[str, Path]:
    """Each module of ours that a worker of this code imports, and its file."""
    answer = subprocess.run(
        [sys.executable, "-c", ORIGINS],
        env=environment(settings, PYTHONPATH=str(code)),
        cwd=settings.home,
        capture_output=True,
        check=True,
    )
    return {name: Path(file) for name, file in json.loads(answer.stdout).items()}


@contextmanager
def running_released(
    code: Path, settings: Settings, *arguments: str, name: str, **env: str
) -> Iterator[Worker]:
    """A worker of this code, in an interpreter of its own; killed at the end if it still runs."""
    log = settings.home / f"{name}.log"
    command = [sys.executable, "-m", "celery", "-A", "chiron_workers", "worker", "-n", f"{name}@test"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--without-mingle", *arguments],
            env=environment(settings, PYTHONPATH=str(code), **env),
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=settings.home,
        )
    try:
        yield Worker(process, log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
