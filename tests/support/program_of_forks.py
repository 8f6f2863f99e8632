"""A program whose own Python programs are forks: `-m support.program_of_forks FOLDER NAME ...` runs the script NAME of a folder.

The program leaves a template behind before it begins, and what it starts of ours is forked from that. Where a test does not test
the start, a worker costs 30 ms instead of up to 3 s. Other programs, such as PostgreSQL, are started as ever.
"""

import os
import runpy
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support import forked_python
from support.python_template import run_module, serve

START = subprocess.Popen._execute_child  # type: ignore[attr-defined]


class Popen(forked_python.Popen):
    """Forks modules and scripts of ours, and starts the rest."""

    def _execute_child(self, *args: Any, **options: Any) -> None:
        call = forked_python.EXECUTE.bind(self, *args, **options)
        if not _is_forkable(call.arguments):
            START(self, *args, **options)
            return
        call.arguments["args"] = _as_module(call.arguments["args"])
        super()._execute_child(*call.args[1:], **call.kwargs)


def _is_forkable(call: Mapping[str, Any]) -> bool:
    command = call["args"]
    is_ours = isinstance(command, list) and command[0] == sys.executable
    return is_ours and not call["pass_fds"] and (command[1] == "-m" or command[1].endswith(".py"))


def _as_module(command: list[str]) -> list[str]:
    """The command with `-m NAME` in place of a script's path; the folder of scripts is on this program's path."""
    program, *rest = command
    return command if rest[0] == "-m" else [program, "-m", Path(rest[0]).stem, *rest[1:]]


def main() -> None:
    folder = sys.argv.pop(1)
    sys.path.insert(0, folder)
    requests, theirs = socket.socketpair()
    if os.fork() == 0:
        requests.close()
        serve(theirs)
        os._exit(run_module(sys.argv.pop(1)))
    theirs.close()
    forked_python.fork_from(requests)
    subprocess.Popen = Popen  # type: ignore[misc]
    os.chdir(folder)
    sys.argv.pop(0)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
