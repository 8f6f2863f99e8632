"""Servers for tests: real processes over stdio and HTTP, supervised as a worker does it."""

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from support import forked_python
from support.detached_store import detached_store

from chiron_workers.mcp_client.config.configuration import ServerConfig, server_config
from chiron_workers.mcp_client.server import Server
from chiron_workers.mcp_client.tools.tool import RemoteTool

HERE = Path(__file__).parent
TESTS = HERE.parent
HONEST = ["-m", "mcp_client.honest_server"]
LIAR = str(HERE / "lying_server.py")
KEY = "Bearer a-key-that-nobody-sees"
ADD: dict[str, Any] = {
    "name": "add",
    "description": "Add.",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
}


def honest(marks: Path, **entry: Any) -> dict[str, Any]:
    """The entry of an honest server that is started as a process."""
    env = {"MARKS": str(marks), "PIDS": str(marks), **entry.pop("env", {})}
    return {"command": sys.executable, "args": HONEST, "cwd": str(TESTS), "env": env, **entry}


def liar(
    folder: Path, *tools: dict[str, Any], does: str = "", env: Any = None, **plan: Any
) -> dict[str, Any]:
    """The entry of a server that does what the plan says."""
    say(folder, *tools, does=does, **plan)
    return {
        "command": sys.executable,
        "args": [LIAR, str(folder / "plan.json")],
        "env": {"PIDS": str(folder), **(env or {})},
    }


def say(folder: Path, *tools: dict[str, Any], does: str = "", **plan: Any) -> None:
    """Write the plan of a liar."""
    written = folder / "plan.json.new"
    written.write_text(json.dumps({"tools": tools, "does": does, "results": {}, **plan}))
    written.rename(folder / "plan.json")


@contextmanager
def http_server(port: int, *options: str, marks: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """An honest server behind an address; it has answered before the block begins."""
    command = [sys.executable, *HONEST, "--http", str(port), *options]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with forked_python.Popen(
        command, env={**os.environ, "MARKS": str(marks)}, cwd=TESTS, **streams
    ) as process:
        try:
            give_up_at = time.monotonic() + 90
            while not _answers(port):
                assert process.poll() is None
                assert time.monotonic() < give_up_at
                time.sleep(0.005)
            yield process
        finally:
            process.kill()


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
    except urllib.error.HTTPError as error:
        error.close()
        return True
    except OSError:
        return False
    return True


def config(name: str, entry: dict[str, Any]) -> ServerConfig:
    found = server_config(name, entry)
    assert found is not None
    return found


@asynccontextmanager
async def supervised(
    entry: dict[str, Any], *, name: str = "remote", timeout_s: float = 30
) -> AsyncIterator[Server]:
    """A server that was tried once, and is supervised until the end of the block."""
    server = Server(config(name, entry), timeout_s=timeout_s, on_tool_list=lambda _: None)
    task = asyncio.create_task(server.supervise())
    try:
        async with asyncio.timeout(90):
            await server.first_attempt.wait()
        yield server
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(condition: Callable[[], Any], timeout_s: float = 90) -> Any:
    """The first true value of a condition."""
    async with asyncio.timeout(timeout_s):
        while not (found := condition()):
            await asyncio.sleep(0.005)
        return found


def tool(server: Server, remote_name: str) -> RemoteTool:
    return next(one for one in server.tool_list.tools if one.remote_name == remote_name)


async def call(server: Server, remote_name: str, /, **arguments: Any) -> str:
    """What a tool answers, called as an agent calls it."""
    found = tool(server, remote_name)
    return await found.run(detached_store(), found.validate(arguments))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
