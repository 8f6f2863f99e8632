"""Each benchmark runs, tiny, on services of its own, and says what it measured."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[1] / "benchmarks"


def figures(name: str, folder: Path, *arguments: str) -> dict[str, list[dict[str, Any]]]:
    file = folder / "figures.json"
    command = [sys.executable, str(HERE / f"{name}.py"), *arguments, "--repeats", "1", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(file.read_text())
    assert found["machine"]["cores"] >= 1
    return dict(found["figures"])


@pytest.mark.slow
def test_the_overhead_of_a_turn_is_measured_early_and_late(tmp_path: Path) -> None:
    found = figures("turn_overhead", tmp_path, "--turns", "12")
    assert found.keys() == {"commit", "bare early", "bare late", "pipeline early", "pipeline late"}
    (early,) = found["pipeline early"]
    assert early["wall"] > 0
    assert early["client"] > 0
    assert early["postgres"] > 0


@pytest.mark.slow
def test_a_real_worker_is_measured_against_a_bare_loop(tmp_path: Path) -> None:
    found = figures("concurrency", tmp_path, "--runs", "3", "--turns", "8", "--latency-ms", "100")
    assert found.keys() == {"bare 3", "pipeline 3"}
    for (measured,) in found.values():
        assert measured["turns_per_s"] > 0
        assert measured["peak_mb"] > 0


def test_what_the_prompt_cache_saves_is_measured_against_the_least_possible(tmp_path: Path) -> None:
    found = figures("cache_economy", tmp_path)
    for name, (measured,) in found.items():
        if name.endswith("pipeline"):
            assert measured["times_the_least"] <= 1.1, name
    assert found["12 calls a turn, top-level mark only"][0]["times_the_least"] > 10


@pytest.mark.slow
def test_submitting_is_measured_against_copy(tmp_path: Path) -> None:
    found = figures("submit", tmp_path, "--topics", "300")
    assert {"copy", "submit", "submit and ring", "ring, batched", "ring, one by one"} == found.keys()
    assert all(step["wall"] > 0 for (step,) in found.values())
