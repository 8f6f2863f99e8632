"""A forked program behaves as a started one: its arguments, streams, environment, signals, exit code and random numbers."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import forked_python

PROGRAM = """
import atexit, os, random, sys, threading
from chiron_workers import ids
atexit.register(lambda: print("at exit"))
threading.Thread(target=lambda: print("in a thread")).start()
print(sys.argv[1:], sys.stdin.read(), os.environ.get("WORD"), os.getcwd(), __name__, random.random(), ids.new_id().hex)
sys.exit({"text": "a reason", "raise": 1}.get(sys.argv[1], 3)) if sys.argv[1] != "raise" else 1 / 0
"""
WAITING = "import time\nprint('ready', flush=True)\ntime.sleep(600)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "waiting.py").write_text(WAITING)
    return tmp_path


def play(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "program", *arguments]
    return forked_python.run(command, input="typed", env={"WORD": "spoken"}, cwd=folder, timeout=60)


def test_arguments_streams_environment_and_folder_are_those_of_the_call(folder: Path) -> None:
    process = play(folder, "a b", "ü")
    words = sorted(process.stdout.splitlines())
    assert any(line.startswith(f"['a b', 'ü'] typed spoken {folder} __main__ ") for line in words)
    assert {"at exit", "in a thread"} <= set(words)
    assert (process.returncode, process.stderr) == (3, "")


def test_an_exit_with_a_reason_and_an_exception_end_as_in_a_started_interpreter(folder: Path) -> None:
    process = play(folder, "text")
    assert (process.returncode, process.stderr) == (1, "a reason\n")
    process = play(folder, "raise")
    assert (process.returncode, process.stderr.splitlines()[-1]) == (
        1,
        "ZeroDivisionError: division by zero",
    )


def test_no_two_forks_draw_the_same_random_numbers_or_ids(folder: Path) -> None:
    lines = [line for _ in range(3) for line in play(folder, "x").stdout.splitlines() if line[0] == "["]
    assert len({line.split()[-2] for line in lines}) == 3
    assert len({line.split()[-1][14:] for line in lines}) == 3


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_signal_ends_it_and_its_parent_is_this_process(folder: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-u", "-m", "waiting"]
    with forked_python.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        status = Path(f"/proc/{process.pid}/status").read_text()
        assert f"PPid:\t{os.getpid()}\n" in status
        process.send_signal(number)
        assert process.wait(60) == -number


def test_a_program_of_forks_forks_its_scripts_and_starts_the_rest(folder: Path) -> None:
    (folder / "parent.py").write_text(
        "import subprocess, sys\n"
        "words = subprocess.run([sys.executable, 'child.py', 'a word'], capture_output=True, text=True).stdout\n"
        "print(words.strip(), subprocess.run(['false']).returncode, sys.argv[1:])\n"
    )
    (folder / "child.py").write_text("import sys\nprint(sys.argv[1:], __name__, 'celery' in sys.modules)\n")
    command = [sys.executable, "-m", "support.program_of_forks", str(folder), "parent", "x"]
    process = forked_python.run(command, cwd=Path(__file__).parent, timeout=60)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout == "['a word'] __main__ True 1 ['x']\n"
