"""An interpreter that has imported our programs and forks one of them for each request; `forked_python.py` asks it.

What a start costs is imports: 0.3 s of CPU for a command and up to 3 s for a worker, against 30 ms for a fork.
"""

import array
import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import time
import types
from contextlib import suppress
from typing import Any

HEADER_BYTES = 8
MODULES = (
    "celery.bin.celery", "celery.apps.worker", "celery.concurrency.thread", "celery.worker.consumer",
    "kombu.transport.redis", "flower.command", "chiron_workers.tasks", "chiron_workers.worker.host",
    "chiron_workers.worker.duties", "chiron_workers.documents.tables.query", "chiron_workers.embeddings.minilm",
    "chiron_api.http.app",
    "chiron_api.http.connections", "chiron_api.http.serve", "chiron_api.mcp_server.server",
    "chiron_api.mcp_server.transports", "chiron_api.flower_server.server", "fastmcp.server.providers.prefab_synthesis",
    "fastmcp.server.sessions", "key_value.aio.adapters.pydantic", "key_value.aio.stores.memory",
    "mcp.server.mcpserver", "anyio._backends._asyncio", "uvicorn.lifespan.on", "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.h11_impl", "onnxruntime", "duckdb", "trafilatura",
)  # fmt: skip


def _import_programs() -> None:
    # fastmcp reads these when it is imported, and the command sets them before.
    os.environ.update({"FASTMCP_ENV_FILE": os.devnull, "FASTMCP_LOG_ENABLED": "false"})
    from chiron_api.cli import load_command
    from chiron_api.cli.commands import SUMMARIES
    from chiron_api.http.app import all_routes
    from chiron_api.http.page.routes import all_routes as page_routes
    from chiron_workers import tools
    from chiron_workers.settings import settings

    all_routes()
    page_routes()
    for name in (
        *MODULES,
        *(f"{tools.__name__}.{tool.name}" for tool in pkgutil.iter_modules(tools.__path__)),
    ):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
    for name in SUMMARIES:
        load_command(name)
    # A fork has neither the template's settings nor its threads.
    assert settings.cache_info().currsize == 0, "an import has read the settings"
    assert threading.active_count() == 1, "an import has started a thread"
    gc.collect()
    gc.freeze()


def serve(requests: socket.socket) -> None:
    """Answer each request with the pid of its process, a child of the process that asked; return in that child alone."""
    while header := requests.recv(HEADER_BYTES, socket.MSG_WAITALL):
        data, descriptors = _receive(requests, int.from_bytes(header, "big"))
        reader, writer = os.pipe()
        if (middle := os.fork()) == 0:
            # The process in the middle ends at once, so that the one who asked adopts the child and can wait for it.
            if os.fork():
                os._exit(0)
            content = json.loads(data)
            if content["is_new_session"]:  # before anybody has the pid, and may signal its group
                os.setsid()
            os.write(writer, str(os.getpid()).encode())
            requests.close()
            os.close(reader)
            os.close(writer)
            _become(content, descriptors)
            return
        os.waitpid(middle, 0)
        pid = os.read(reader, 20)
        for descriptor in (reader, writer, *descriptors):
            os.close(descriptor)
        requests.sendall(pid.ljust(20))
    os._exit(0)


def _receive(requests: socket.socket, size: int) -> tuple[bytes, list[int]]:
    descriptors = array.array("i")
    data, ancillary, _, _ = requests.recvmsg(size, socket.CMSG_LEN(3 * descriptors.itemsize))
    for level, kind, content in ancillary:
        assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
        descriptors.frombytes(content)
    while len(data) < size:
        data += requests.recv(size - len(data))
    return data, list(descriptors)


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Turn into the process that was asked for: its streams, environment, folder and arguments."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    if request["umask"] >= 0:
        os.umask(request["umask"])
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    is_unbuffered = bool(os.environ.get("PYTHONUNBUFFERED")) or "-u" in request["flags"]
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8")
    sys.stdout = _writer(1, "strict", is_unbuffered=is_unbuffered)
    sys.stderr = _writer(2, "backslashreplace", is_unbuffered=True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.argv = [sys.executable, *request["arguments"]]
    if "-P" not in request["flags"]:
        sys.path.insert(0, request["cwd"])


def _writer(number: int, errors: str, *, is_unbuffered: bool) -> io.TextIOWrapper:
    raw = io.FileIO(number, "w", closefd=False)
    binary: Any = raw if is_unbuffered else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        binary, encoding="utf-8", errors=errors, line_buffering=raw.isatty(), write_through=is_unbuffered
    )


class _Program(types.ModuleType):
    """The program under the name by which processes of `multiprocessing` send its objects."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules["__main__"], name)


def run_module(name: str) -> int:
    """Run a module as `python -m` does, to the end of its threads and exit handlers; the exit code."""
    code = 0
    sys.modules["__mp_main__"] = _Program("__mp_main__")
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:  # noqa: BLE001  # the process boundary
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # its reader is gone, or the program closed it
            stream.flush()
    return code


if __name__ == "__main__":
    connection = socket.socket(fileno=int(sys.argv[1]))
    _import_programs()
    connection.sendall(b"ready".ljust(20))
    serve(connection)
    os._exit(run_module(sys.argv.pop(1)))
