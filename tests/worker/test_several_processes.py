"""`chiron worker --processes N`, as a container starts it: N workers under one process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from support import bare_interpreter, forked_python
from support.worker_processes import chiron, environment, rows, wait_until

from chiron_workers.settings import Settings
from chiron_workers.settings.cores import WORKERS_MAX, usable_cores, worker_count
from chiron_workers.worker import processes
from chiron_workers.worker.processes import WorkerProcess, WorkerProcesses


@contextmanager
def several(settings: Settings, count: int) -> Iterator[SimpleNamespace]:
    """So many workers under one command, ready; all of them are killed at the end if they still run."""
    log = settings.home / "several.log"
    command = [sys.executable, "-m", "chiron_api", "worker", "--processes", str(count), "--name", "w"]
    with log.open("wb") as out:
        parent = forked_python.Popen(
            command, env=environment(settings), stdout=out, stderr=subprocess.STDOUT, cwd=settings.home
        )
    try:
        wait_until(lambda: log.read_text().count(" ready.") == count or parent.poll() is not None)
        assert parent.poll() is None, log.read_text()
        yield SimpleNamespace(parent=parent, log=log)
    finally:
        for process in children(parent):
            process.kill()
        if parent.poll() is None:
            parent.kill()
        parent.wait()


def children(parent: forked_python.Popen) -> list[psutil.Process]:
    return psutil.Process(parent.pid).children() if parent.poll() is None else []


# Asks as the check does, but waits for an answer that is missing a second only.
HURRIED = """
import runpy
from chiron_workers.celery import app
ping = app.control.ping
app.control.ping = lambda timeout, **options: ping(timeout=1.0, **options)
runpy.run_module("chiron_workers.worker.health", run_name="__main__")
"""


@pytest.mark.acceptance
def test_each_process_is_a_worker_that_has_to_answer_the_health_check_and_one_signal_drains_them_all(
    settings: Settings,
) -> None:
    with several(settings, 2) as workers:
        check = [sys.executable, "-P", "-m", "chiron_workers.worker.health"]
        env = environment(settings, CHIRON_WORKERS="2")
        assert forked_python.run(check, env=env, timeout=120).returncode == 0
        env["CHIRON_WORKERS"] = "3"
        assert bare_interpreter.run(HURRIED, env=env).code == 1
        submitted = chiron(settings, "submit", "Tides", "Moons", "--subject", "Physics")
        assert submitted.returncode == 0, submitted.stderr
        wait_until(
            lambda: {row["state"] for row in rows(settings, "select state from runs")} == {"completed"}
        )
        pids = children(workers.parent)
        assert len(pids) == 2
        workers.parent.send_signal(signal.SIGTERM)
        assert workers.parent.wait(90) == 0
        assert not any(process.is_running() for process in pids)
        assert workers.log.read_text().count("worker.draining") == 2
        names = {
            line["worker"]
            for line in rows(settings, "select distinct worker from runs where worker is not null")
        }
        assert {int(name.rpartition(":")[2]) for name in names} <= {process.pid for process in pids}


def test_a_worker_that_ends_by_itself_is_started_again(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "STEADY_S", 0.0)
    monkeypatch.setattr(processes, "PAUSE_MIN_S", 0.01)
    worker = WorkerProcess([sys.executable, "-c", "import time; time.sleep(600)"])
    worker.start()
    assert worker.look_after(WorkerProcess.start) is None
    worker.terminate()
    assert worker.wait() == -15
    wait_until(lambda: worker.look_after(WorkerProcess.start) is None and worker.exit_code() is None)
    assert "chiron: a worker ended with -15 and is started again." in capfd.readouterr().err
    worker.terminate()
    worker.wait()


def test_workers_that_cannot_start_end_the_command_with_their_reason(settings: Settings) -> None:
    done = forked_python.run(
        [sys.executable, "-P", "-m", "chiron_workers.worker.processes", "1", "w", "5", "info"],
        env=environment(settings, CHIRON_DATABASE_URL=f"{settings.database_url}_missing"),
        timeout=120,
    )
    assert done.returncode == 1
    assert "chiron: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_handlers")
def test_a_process_that_ends_by_itself_is_counted_as_failed_and_ends_the_others() -> None:
    commands = [
        [sys.executable, "-c", program] for program in ("raise SystemExit(3)", "import time; time.sleep(600)")
    ]
    assert WorkerProcesses(commands).run() == 3


@pytest.mark.usefixtures("_handlers")
def test_a_signal_while_a_worker_is_started_again_ends_that_worker_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*args: Any, **kwargs: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **kwargs))
        if len(started) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return started[-1]

    def end_the_first(_: float) -> None:
        started[0].kill()
        started[0].wait()

    monkeypatch.setattr(processes, "STEADY_S", 0.0)
    monkeypatch.setattr(processes, "PAUSE_MIN_S", 0.0001)
    monkeypatch.setattr(processes, "subprocess", SimpleNamespace(Popen=start))
    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=time.monotonic, sleep=end_the_first))
    workers = WorkerProcesses([[sys.executable, "-c", "import time; time.sleep(20)"]])
    workers.run()
    assert [process.returncode for process in started] == [-signal.SIGKILL, -signal.SIGTERM]


@pytest.mark.parametrize(
    ("file", "text", "cores"),
    [
        ("cpu.max", "max 100000", None),
        ("cpu.max", "100000 100000", 1),
        ("cpu.max", "20000 100000", 1),
        ("nothing", "", None),
    ],
)
def test_a_container_has_the_cores_of_its_quota(
    tmp_path: Path, file: str, text: str, cores: int | None
) -> None:
    (tmp_path / file).write_text(text)
    assert usable_cores(tmp_path) == (cores or len(os.sched_getaffinity(0)))


def test_so_many_workers_start_as_there_are_cores_unless_told_otherwise(settings: Settings) -> None:
    assert worker_count(settings) == min(usable_cores(), WORKERS_MAX)
    assert worker_count(settings.model_copy(update={"workers": 5})) == 5
