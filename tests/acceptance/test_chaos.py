"""Nothing is lost and nothing is asked twice, whatever dies: the programs in benchmarks/ that anyone can run, small."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support import forked_python

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.timeout(900)]


def run(
    name: str, folder: Path, *arguments: str, codes: tuple[int, ...] = (0,), **env: str
) -> dict[str, Any]:
    """What a program found; its own words are shown if it ends with another code."""
    file = folder / "found.json"
    program = ["-m", "support.program_of_forks", str(ROOT / "benchmarks"), name]
    start, place = forked_python.Popen, ROOT / "tests"
    if env:  # other code than that of the forks
        program, start, place = [str(ROOT / "benchmarks" / f"{name}.py")], subprocess.Popen, folder
    command = [sys.executable, *program, *arguments, "--json", str(file)]
    said = folder / "said.txt"
    with said.open("wb") as out:
        process = start(command, stdout=out, stderr=subprocess.STDOUT, cwd=place, env=os.environ | env)
        try:
            assert process.wait(560) in codes, said.read_text()[-6_000:]
        finally:
            process.terminate()  # it ends its workers and services then
            process.wait(60)
    return dict(json.loads(file.read_text()))


FENCE = re.compile(
    r"\s+and (r\.)?(lease = (%\(lease\)s|held\.lease)|token = (%\(token\)s|held\.token)|steps >= (%\(steps\)s|held\.steps))"
)
LOSS = re.compile(
    r"\(r\.lease, r\.token, r\.state\) is distinct from \(held\.lease, held\.token, 'running'\)\s+or r\.steps < held\.steps"
)


def without_the_fence(folder: Path) -> str:
    """A copy of the engine in which no write compares the number, the token or the steps of its lease."""
    shutil.copytree(ROOT / "chiron_workers", folder / "chiron_workers")
    fences = losses = 0
    for file in folder.glob("chiron_workers/**/*.sql"):  # wherever a statement has one
        unfenced, fences_of_file = FENCE.subn("", file.read_text())
        unfenced, losses_of_file = LOSS.subn("r.state is distinct from 'running'", unfenced)
        file.write_text(unfenced)
        fences += fences_of_file
        losses += losses_of_file
    assert fences > 0
    assert losses == 1
    return os.pathsep.join([str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")])


def test_nothing_is_lost_and_nothing_is_repeated_but_what_was_in_flight(tmp_path: Path, seed: int) -> None:
    found = run("chaos", tmp_path, "--seed", str(seed), "--latency-s", "1")
    assert found["broken"] == []
    assert found["completed"] == found["runs"] == 60
    assert found["blamed"] <= 2, "few runs pause for the ends that their workers were dealt"
    assert found["answered"] - found["repeated"] == 60 * 12
    assert len(found["faults"]) == 6, "every kind of blow was dealt"


def test_without_the_fence_the_suite_fails(tmp_path: Path) -> None:
    path = without_the_fence(tmp_path / "unfenced")
    stops = ("--only", "worker stopped past its lease", "--fault-rate", "0")
    for seed in ("3", "4", "5"):  # on a busy machine a stopped worker may come back too late to write
        sizes = ("--seed", seed, "--runs", "20", "--turns", "6")
        found = run("chaos", tmp_path, *sizes, *stops, codes=(0, 1), PYTHONPATH=path)
        if found["broken"]:
            break
    assert found["broken"]
    assert found["doubled_writes"] > 0


def test_a_rolling_restart_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    found = run("rolling_restart", tmp_path, "--rounds", "1", "--latency-s", "2")
    assert [restart["code"] for restart in found["restarts"]] == [0] * 3
    assert found["handed_back"] > 0
    assert all(restart["in_flight"] > 0 for restart in found["restarts"])
    assert (found["runs"], found["cut"], found["repeated"]) == (60, 0, 0)


def test_the_runs_of_a_killed_worker_go_on(tmp_path: Path) -> None:
    found = run("recovery", tmp_path, "--kills", "2", "--runs", "12", "--latency-s", "1")
    recoveries = found["figures"]["recoveries"]
    assert {each["kill"] for each in recoveries} == set(range(2))
    assert max(each["seconds"] for each in recoveries) < 60
