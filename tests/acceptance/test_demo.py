"""The README's first command, in a fresh home, as a stranger runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest


@pytest.mark.timeout(180)
def test_the_demo_researches_a_real_batch_in_a_fresh_home_and_leaves_nothing_behind(tmp_path: Path) -> None:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("CHIRON_", "ANTHROPIC_"))
    }
    env = {
        **kept,
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "CHIRON_DATABASE_URL": "postgresql://not-to-be-used/x",
    }
    done = subprocess.run(
        [sys.executable, "-m", "chiron_api", "demo", "--json"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *events, summary = [json.loads(line) for line in done.stdout.splitlines()]
    assert set(summary) == {"batch_id", "runs", "completed", "facts", "elapsed_s"}
    assert summary["runs"] == summary["completed"] >= 6
    stored = [event["data"] for event in events if event["kind"] == "fact.stored"]
    assert summary["facts"] == len(stored) >= 6
    assert all(fact["source_url"].startswith("corpus://the-python-language/") for fact in stored)
    assert len({event["data"]["worker"] for event in events if event["kind"] == "run.started"}) == 2
    left = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if str(tmp_path) in " ".join(process.info["cmdline"] or [])
    ]
    assert left == []
    assert list(tmp_path.glob("chiron-demo-*")) == []
