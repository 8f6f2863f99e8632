"""The README's first command, in a fresh home, as a stranger runs it."""

import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx2
import psutil
import pytest

from chiron_api.local_stack.ports import free_port

DEMO = [sys.executable, "-m", "chiron_api", "demo", "--json"]


def environment(home: Path) -> dict[str, str]:
    """A stranger's: an empty home, and a database set that the demo must leave alone."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("CHIRON_", "ANTHROPIC_"))
    }
    return {
        **kept,
        "HOME": str(home),
        "TMPDIR": str(home),
        "CHIRON_DATABASE_URL": "postgresql://not-to-be-used/x",
    }


def left_behind(home: Path) -> list[int | Path]:
    """Processes that name the home in their command, and folders of the demo in it."""
    processes = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if str(home) in " ".join(process.info["cmdline"] or [])
    ]
    return [*processes, *home.glob("chiron-demo-*")]


@pytest.mark.timeout(600)
def test_the_demo_researches_a_real_batch_in_a_fresh_home_and_leaves_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        DEMO,
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *events, summary = [json.loads(line) for line in done.stdout.splitlines()]
    assert set(summary) == {"batch_id", "runs", "completed", "facts", "elapsed_s"}
    assert summary["runs"] == summary["completed"] >= 6
    stored = [event["data"] for event in events if event["kind"] == "fact.stored"]
    assert summary["facts"] == len(stored) >= 6
    assert all(fact["source_url"].startswith("corpus://the-python-language/") for fact in stored)
    assert {fact["verdict"] for fact in stored} <= {"unchecked", "partly"}, "no model was there to judge them"
    assert len({event["data"]["worker"] for event in events if event["kind"] == "run.started"}) == 2
    assert left_behind(tmp_path) == []


def test_a_demo_whose_terminal_is_closed_leaves_nothing_behind(tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(tmp_path)
        os.execve(DEMO[0], DEMO[:-1], environment(tmp_path))  # noqa: S606 the terminal is its own
    demo, said = psutil.Process(pid), b""
    while b"How does" not in said:  # the first run is told of
        said += os.read(terminal, 4_096)
    os.close(terminal)
    assert demo.wait(timeout=300) != 0
    assert left_behind(tmp_path) == []


@pytest.mark.timeout(600)
def test_the_demo_names_its_page_and_keeps_it_open_until_somebody_ends_it(tmp_path: Path) -> None:
    command = [*DEMO[:-1], "--keep"]
    process = subprocess.Popen(
        command,
        env=environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What runs in the background of a shell ignores Ctrl+C, and so does all that it starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no thread runs yet
    )
    try:
        assert process.stdout
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("The page stays open"):
                break
        assert any(line.startswith("The page of it, while it runs: http://127.0.0.1:") for line in lines)
        link = lines[-1].split()[4]
        with httpx2.Client(trust_env=False, follow_redirects=True, timeout=60) as browser:
            assert "You are signed in" in browser.get(link).text
            home = browser.get(f"{link.partition('/open')[0]}/")
            assert (home.status_code, "Demo: the Python language" in home.text) == (200, True)
            assert browser.get(link).status_code == 401  # the link was used
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
        assert "8 of 8 runs completed" in rest
        assert "its facts stay unchecked, since no model has judged" in rest
    finally:
        process.kill()
        process.communicate()
    assert left_behind(tmp_path) == []


LEARN = [*DEMO[:-1], "--learn"]
STATES = [
    "initializing",
    "researching",
    "assessing",
    "generating_lesson",
    "delivering_lesson",
    "exercising",
]


@pytest.mark.timeout(600)
def test_the_demo_of_learning_goes_the_whole_way_and_leaves_a_home_that_goes_on(tmp_path: Path) -> None:
    def run(*command: str, **variables: str) -> str:
        process = subprocess.run(
            command, env=environment(tmp_path) | variables, cwd=tmp_path, capture_output=True, text=True, timeout=400,
            check=False,
        )  # fmt: skip
        assert (process.returncode, process.stderr) == (0, ""), process.stdout
        return process.stdout

    *moves, summary = [json.loads(line) for line in run(*LEARN, "--json").splitlines()]
    assert list(dict.fromkeys(move["state"] for move in moves)) == STATES
    assert (summary["questions"], summary["answers"], summary["right"]) == (3, 3, 3)
    assert summary["nodes"] >= 6
    assert summary["facts"] >= 3 * summary["nodes"]
    assert summary["citations"] >= 4
    print(summary)
    home = Path(summary["home"])
    assert (home.parent, home.is_dir()) == (tmp_path, True)
    chiron = [sys.executable, "-m", "chiron_api"]
    variables = {
        "CHIRON_HOME": str(home),
        "CHIRON_MODEL": "offline",
        "CHIRON_DATABASE_URL": "",
        "CHIRON_API_PORT": str(free_port()),
        "CHIRON_FLOWER_PORT": str(free_port()),
    }
    run(*chiron, "up", "--workers", "1", "--detach", **variables)
    try:
        status = json.loads(run(*chiron, "learn", "status", summary["subject_id"], "--json", **variables))
        lesson = run(*chiron, "learn", "lesson", summary["subject_id"], "Exceptions", **variables)
    finally:
        run(*chiron, "down", **variables)
    assert status["way"][0]["mastery"] > 0.9
    assert "## Facts and sources" in lesson


@pytest.mark.timeout(600)
def test_the_demo_of_learning_asks_whoever_sits_at_the_terminal(tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(tmp_path)
        os.execve(LEARN[0], LEARN, environment(tmp_path))  # noqa: S606 the terminal is its own
    demo, said, answers = psutil.Process(pid), b"", 0
    with suppress(OSError):  # the terminal ends with the demo
        while piece := os.read(terminal, 4_096):
            said += piece
            if said.rstrip(b" ").endswith((b">", b"it open]")) and (b" of 3 " in said):
                os.write(terminal, b"a word\n" if answers < 3 else b"n\n")
                answers += 1
    os.close(terminal)
    assert demo.wait(timeout=300) == 0
    text = said.decode()
    assert answers == 6  # three questions, and for each whether the answer was right
    assert "Nobody is asked" not in text
    assert "3 answers of which 0 right" in " ".join(text.split())
