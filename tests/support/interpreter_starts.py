"""How many Python interpreters a session of tests starts: a start costs 0.3 to 3 s of CPU, a fork of one 0.03 s."""

import os
import tempfile
from pathlib import Path

import pytest

VARIABLE = "PYTEST_INTERPRETERS"  # the file that support/counted/sitecustomize.py writes to
COUNTED = Path(__file__).with_name("counted")
# Not ours: pytest's own processes, and the process that confines parsers and forks for each document.
LEFT_OUT = ("exec(eval(sys.stdin.readline()))", "chiron_workers.documents.sandbox.fork_server")


def begin() -> None:
    """Have each interpreter that is started from now on write a line."""
    descriptor, os.environ[VARIABLE] = tempfile.mkstemp(prefix="interpreters")
    os.close(descriptor)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(COUNTED), os.environ.get("PYTHONPATH")]))


def end(session: pytest.Session, limit: int | None) -> str:
    """Say how many there were; a session with more than the limit fails."""
    file = Path(os.environ.pop(VARIABLE))
    lines = [line for line in file.read_text().splitlines() if not any(part in line for part in LEFT_OUT)]
    file.unlink()
    if limit is None or len(lines) <= limit:
        return f"{len(lines)} Python interpreters were started."
    if session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    return "\n".join([f"{len(lines)} Python interpreters were started, {limit} are allowed:", *sorted(lines)])
