"""supervisord, run with our own interpreter and called over its Unix socket."""

import contextlib
import http.client
import json
import os
import shlex
import subprocess
import sys
import time
import xmlrpc.client
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from chiron_api.local_stack.home import PRIVATE_UMASK, Home, open_private
from chiron_api.local_stack.programs import PRIORITY, Kind, Program, node_name
from chiron_workers.errors import ChironError

STATES = {
    "STOPPED": "stopped",
    "STARTING": "running",
    "RUNNING": "running",
    "BACKOFF": "restarting",
    "STOPPING": "stopping",
    "EXITED": "restarting",
    "FATAL": "failed",
}
HOME_VARIABLE = "CHIRON_STACK_HOME"  # variable by which the processes of a home are recognised
PID_FILE = "supervisord.pid"
PARTS_FILE = "parts.json"  # kind and address of each part by its name
RETRIES = 100  # Each retry waits a second longer than the one before.
RPC_FACTORY = "supervisor.rpcinterface:make_main_rpcinterface"
START_TIMEOUT_S = 60
END_TIMEOUT_S = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a running stack; `pid` is 0 while it does not run, `address` never holds a password.

    The address of a worker is its name in Celery.
    """

    name: str
    kind: Kind
    pid: int
    state: str
    address: str


@dataclass(slots=True)
class Supervisor:
    """The supervisor of a home, whether this process started it or another."""

    home: Home
    _process: subprocess.Popen[bytes] | None = field(default=None)

    def launch(self, programs: list[Program], environment: dict[str, str]) -> None:
        """Start supervisord in a session of its own, so that a terminal's Ctrl+C does not reach it.

        Args:
            environment: Of all parts.

        Raises:
            ChironError: It does not answer within a minute.
        """
        self.reap()
        _write(self._configuration, configuration(self.home, programs))
        _write(
            self.home.folder / PARTS_FILE,
            json.dumps({program.name: [program.kind, program.address] for program in programs}),
        )
        variables = environment | {HOME_VARIABLE: str(self.home.folder)}
        with open_private(self.home.logs / "supervisor.err") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "supervisor.supervisord", "-n", "-c", str(self._configuration)],
                env=variables, cwd=self.home.folder, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, umask=PRIVATE_UMASK,
            )  # fmt: skip
        deadline = time.monotonic() + START_TIMEOUT_S
        while self.pid() is None:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise ChironError(
                    f"The supervisor does not start. Its reasons are in {self.home.logs / 'supervisor.err'}."
                )
            time.sleep(0.05)

    def pid(self) -> int | None:
        """The supervisor's process, also while it stops its parts, or None where none answers."""
        if self._process:
            self._process.poll()  # Without this a supervisor that ended would remain as a zombie.
        try:
            return int(self._call("supervisor.getPID"))
        except xmlrpc.client.Fault:  # Its only answer while it stops.
            return self._written_pid()
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return None

    def is_stopping(self) -> bool:
        """Whether it stops its parts, as somebody told it to."""
        try:
            self._call("supervisor.getPID")
        except xmlrpc.client.Fault:
            return True
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return False
        return False

    def has_failed(self) -> bool:
        """Whether a supervisor that this process started, and that was reaped, ended in another way than by a stop."""
        return self._process is not None and self._process.returncode not in (None, 0)

    def start(self, program: Program) -> None:
        """Let a part start; it may not run yet when this returns."""
        group = "workers" if program.kind is Kind.WORKER else program.name
        self._call("supervisor.startProcess", f"{group}:{program.name}", False)

    def parts(self) -> list[Part]:
        """All parts, services first, or none where no supervisor answers."""
        try:
            processes = self._call("supervisor.getAllProcessInfo")
        except (OSError, http.client.HTTPException, xmlrpc.client.Error):
            return []
        kinds_and_addresses: dict[str, list[str]] = json.loads((self.home.folder / PARTS_FILE).read_text())
        parts = [
            _part(process, Kind(kind), address)
            for process in processes
            for kind, address in [kinds_and_addresses[process["name"]]]
        ]
        return sorted(parts, key=lambda part: (PRIORITY[part.kind], part.name))

    def part(self, name: str) -> Part:
        """One part. Raises ChironError where the supervisor has gone."""
        for part in self.parts():
            if part.name == name:
                return part
        raise ChironError(f"The supervisor ended. Its log: {self.home.logs / 'supervisor.log'}")

    def stop(self, *, within_s: float) -> None:
        """Stop all parts in their order, workers first, and then the supervisor."""
        pid = self.pid()
        if pid is None:
            return
        # A fault means that it is shutting down already.
        with contextlib.suppress(OSError, http.client.HTTPException, xmlrpc.client.Error):
            self._call("supervisor.shutdown")
        deadline = time.monotonic() + within_s
        while _is_alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)

    def reap(self) -> None:
        """Wait for a supervisor that this process started, so that it does not remain as a zombie."""
        if self._process:
            try:
                self._process.wait(timeout=END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                raise ChironError(
                    f"The supervisor (process {self._process.pid}) does not end. Kill it."
                ) from None

    @property
    def _configuration(self) -> Path:
        return self.home.folder / "supervisord.conf"

    def _written_pid(self) -> int | None:
        try:
            return int((self.home.folder / PID_FILE).read_text())
        except (FileNotFoundError, ValueError):  # It has ended since.
            return None

    def _call(self, method: str, *arguments: Any) -> Any:
        from supervisor.xmlrpc import SupervisorTransport

        transport = SupervisorTransport(serverurl=f"unix://{_socket(self.home)}")
        with xmlrpc.client.ServerProxy("http://localhost", transport=transport) as proxy:
            return getattr(proxy, method)(*arguments)


def configuration(home: Home, programs: list[Program]) -> str:
    """The text of supervisord.conf, with paths from the home, where supervisord runs.

    Nothing starts by itself: the stack starts each part once what it needs is ready.
    """
    workers = [program.name for program in programs if program.kind is Kind.WORKER]
    return "\n".join(
        [
            _section("unix_http_server", file=_socket(home), chmod="0600"),
            _section("rpcinterface:supervisor", **{"supervisor.rpcinterface_factory": RPC_FACTORY}),
            _section(
                "supervisord",
                logfile="logs/supervisor.log",
                logfile_maxbytes="1MB",
                logfile_backups=1,
                pidfile=PID_FILE,
                childlogdir="logs",
                silent="true",
                **({"user": "root"} if os.geteuid() == 0 else {}),
            ),
            *(_program_section(program) for program in programs),
            # One group, so that the workers drain at the same time and not one after the other.
            _section("group:workers", programs=",".join(workers), priority=PRIORITY[Kind.WORKER])
            if workers
            else "",
        ]
    )  # fmt: skip


def _program_section(program: Program) -> str:
    return _section(
        f"program:{program.name}",
        command=shlex.join(program.command),
        priority=PRIORITY[program.kind],
        autostart="false",
        autorestart="true",
        startsecs=program.steady_after_s,
        startretries=RETRIES,
        stopsignal=program.stop_signal,
        stopwaitsecs=program.stop_within_s,
        killasgroup="true",
        redirect_stderr="true",
        stdout_logfile=f"logs/{program.name}.log",
        stdout_logfile_maxbytes="10MB",
        stdout_logfile_backups=3,
    )


def _section(title: str, **values: object) -> str:
    lines = (f"{name} = {str(value).replace('%', '%%')}" for name, value in values.items())
    return "\n".join([f"[{title}]", *lines, ""])


def _part(process: dict[str, Any], kind: Kind, address: str) -> Part:
    name, pid = process["name"], int(process["pid"])
    node = node_name(name, pid) if pid and kind is Kind.WORKER else ""
    return Part(name, kind, pid, STATES[process["statename"]], node or address)


def _socket(home: Home) -> Path:
    return home.sockets / "supervisor.sock"


def _write(file: Path, text: str) -> None:
    with open_private(file) as target:
        target.write(text.encode())


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
