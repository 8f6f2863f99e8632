"""`Popen` for our own programs: forked from an interpreter that has imported them, where a test does not test the start."""

import array
import atexit
import contextlib
import ctypes
import inspect
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

TEMPLATE = Path(__file__).with_name("python_template.py")
ANSWER_BYTES = 20
PR_SET_CHILD_SUBREAPER = 36
FLAGS = ("-P", "-u")
EXECUTE = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]  # the one step that differs
_one_at_a_time = threading.Lock()


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """As `subprocess.Popen`, for commands such as `[sys.executable, "-m", "chiron_api", "list"]`.

    Of the options it heeds streams, text, `env`, `cwd`, `umask` and `start_new_session`. The program always takes SIGINT.
    """

    def _execute_child(self, *args: Any, **options: Any) -> None:
        given = EXECUTE.bind(self, *args, **options).arguments
        flags, module, arguments = _parts(given["args"])
        request = {
            "flags": flags,
            "arguments": [module, *arguments],
            "environment": dict(given["env"] if given["env"] is not None else os.environ),
            "cwd": os.fspath(given["cwd"] or Path.cwd()),
            "is_new_session": bool(given["start_new_session"]),
            "umask": given["umask"],
        }
        ends = (given["p2cread"], given["c2pwrite"], given["errwrite"])
        streams = [number if end == -1 else end for number, end in enumerate(ends)]
        with _one_at_a_time:
            self.pid = _template().fork(request, streams)
        self._child_created = True
        self._close_pipe_fds(*(given[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")))  # type: ignore[attr-defined]  # fmt: skip


def run(command: Sequence[Any], *, timeout: float, check: bool = False, **options: Any) -> Any:
    """As `subprocess.run` with captured text."""
    stdin = options.pop("input", None)
    streams = {"stdin": subprocess.PIPE if stdin is not None else options.pop("stdin", subprocess.DEVNULL)}
    with Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **streams, **options
    ) as process:
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


def _parts(command: Sequence[Any]) -> tuple[list[str], str, list[str]]:
    program, *rest = [os.fspath(part) for part in command]
    assert program == sys.executable, f"{program} is not this interpreter"
    place = rest.index("-m")
    flags = rest[:place]
    assert set(flags) <= set(FLAGS), flags
    return flags, rest[place + 1], rest[place + 2 :]


class _Template:
    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests

    @classmethod
    def start(cls) -> "_Template":
        requests, theirs = socket.socketpair()
        bare = {k: v for k, v in os.environ.items() if not k.startswith(("CHIRON_", "ANTHROPIC_"))}
        command = [sys.executable, "-P", str(TEMPLATE), str(theirs.fileno())]
        with theirs:
            process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], env=bare, stdin=subprocess.DEVNULL
            )

        def end() -> None:
            requests.close()  # the template ends where nobody can ask it
            process.wait()

        atexit.register(end)
        assert requests.recv(ANSWER_BYTES, socket.MSG_WAITALL).strip() == b"ready"
        return cls(requests)

    def fork(self, request: dict[str, Any], streams: list[int]) -> int:
        data = json.dumps(request).encode(errors="surrogateescape")
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))]
        with _adopting():
            self._requests.sendall(len(data).to_bytes(8, "big"))
            sent = self._requests.sendmsg([data], rights)
            self._requests.sendall(data[sent:])
            return int(self._requests.recv(ANSWER_BYTES, socket.MSG_WAITALL))


_own: list[_Template] = []


def fork_from(requests: socket.socket) -> None:
    """Have this process fork from a template that is there already and serves these requests."""
    _own.append(_Template(requests))


@cache
def _template() -> _Template:
    return _own[0] if _own else _Template.start()


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    """Be the parent of grandchildren whose parent ends meanwhile, so that a fork of the template is a child of this process."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
