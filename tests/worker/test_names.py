"""Workers of different containers have different names, also where host name and process id are the same."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from chiron_api.local_stack.programs import node_name
from chiron_workers.worker import names
from chiron_workers.worker.names import host_name
from chiron_workers.worker.processes import commands

INIT = "1 (a name) with spaces) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 {began} 9 9"


def container(folder: Path, *, namespace: str, began: int = 4242) -> Path:
    """The files of /proc in a container: the inode of its PID namespace is that of a file."""
    for path in ("self/ns", "sys/kernel/random", "1"):
        (folder / path).mkdir(parents=True)
    (folder / "self/ns/pid").write_text(namespace)
    (folder / "sys/kernel/random/boot_id").write_text("b-o-o-t\n")
    (folder / "1/stat").write_text(INIT.format(began=began))
    return folder


def test_a_container_has_a_name_of_its_own_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()
    for folder in (tmp_path / "one", tmp_path / "two"):
        monkeypatch.setattr(names, "PROC", container(folder, namespace="x"))
        assert host_name() == host_name()
        assert host_name().startswith(f"{socket.gethostname()}-")
        assert node_name("worker-1", 1) == f"worker-1-1@{host_name()}"
        [command] = commands(1, name="worker", concurrency="1", log_level="info")
        assert command[command.index("-n") + 1].endswith(f"@{host_name()}")
        seen.add(host_name())
        (folder / "1/stat").write_text(INIT.format(began=4243))
        seen.add(host_name())  # the container was started again
    assert len(seen) == 4


def test_a_machine_that_is_no_container_has_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "PROC", container(tmp_path / "proc", namespace="x"))
    monkeypatch.setattr(names, "OUTERMOST", (tmp_path / "proc/self/ns/pid").stat().st_ino)
    assert host_name() == socket.gethostname()
    monkeypatch.setattr(names, "PROC", tmp_path / "missing")
    assert host_name() == socket.gethostname()


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare of util-linux")
def test_real_pid_namespaces_differ() -> None:
    program = "from chiron_workers.worker.names import host_name; print(host_name())"
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", program]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=False) for _ in range(2))
    if first.returncode:
        pytest.skip(f"No namespaces here: {first.stderr.strip()}")
    assert first.stdout != second.stdout
