"""Programs in forks of an interpreter that has imported the standard library alone: what they print and import.

Such a fork is as clean as a new interpreter, and starts in milliseconds.
"""

import atexit
import io
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache, partial
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program printed, the code it ended with, and the modules that it left imported."""

    output: str
    errors: str
    code: int | str | None
    modules: frozenset[str]

    @property
    def packages(self) -> set[str]:
        """The packages of its modules, without those of the standard library and of the interpreter's own setup."""
        packages = {name.partition(".")[0] for name in self.modules}
        return set(filter(str.isidentifier, packages - sys.stdlib_module_names - {"sitecustomize"}))


def run(program: str, *, env: Mapping[str, str] | None = None) -> Outcome:
    """Run one program. Raises AssertionError with its traceback where it fails by an exception."""
    return run_each({"": program}, env=env)[""]


def run_each(programs: Mapping[str, str], *, env: Mapping[str, str] | None = None) -> dict[str, Outcome]:
    """Run each program in a fork of its own."""
    request = {"programs": dict(programs), "env": dict(os.environ if env is None else env)}
    answers = _interpreter().ask(request)
    failures = [f"{name}: {answer}" for name, answer in answers.items() if isinstance(answer, str)]
    assert failures == [], "\n".join(failures)
    return {
        name: Outcome(answer["output"], answer["errors"], answer["code"], frozenset(answer["modules"]))
        for name, answer in answers.items()
    }


class _Interpreter:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def end(self) -> None:
        self._process.communicate()


@cache
def _interpreter() -> _Interpreter:
    interpreter = _Interpreter()
    atexit.register(interpreter.end)
    return interpreter


def serve() -> None:
    """Answer the requests that come as lines of JSON."""
    for line in sys.stdin:
        request = json.loads(line)
        programs, env = request["programs"].items(), request["env"]
        answers = {name: _in_fork(partial(_play, program, env)) for name, program in programs}
        print(json.dumps(answers), flush=True)


def _play(program: str, env: dict[str, str]) -> dict[str, Any]:
    os.environ.clear()
    os.environ.update(env)
    code = None
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
        try:
            exec(program, {"__name__": "__main__"})  # noqa: S102  # what tests give
        except SystemExit as end:
            code = end.code
    return {
        "output": output.getvalue(),
        "errors": errors.getvalue(),
        "code": code,
        # Without a spec are __main__, and what extensions make up.
        "modules": [name for name, module in sys.modules.items() if getattr(module, "__spec__", None)],
    }


def _in_fork(task: Callable[[], Any]) -> Any:
    """What a task returns in a fork of this process, or its traceback as text."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        try:
            answer = task()
        except BaseException:  # noqa: BLE001  # the process boundary
            answer = traceback.format_exc()
        with open(writer, "w") as stream:  # noqa: PTH123  # a descriptor
            json.dump(answer, stream)
        os._exit(0)
    os.close(writer)
    with open(reader) as stream:  # noqa: PTH123  # a descriptor
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text)


if __name__ == "__main__":
    serve()
