"""Flower as people start it, `chiron flower`, and requests to it."""

import base64
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from chiron_api.local_stack.access import flower_password_file
from chiron_api.local_stack.ports import free_port
from chiron_workers.settings import Settings
from support import forked_python
from support.worker_processes import environment, wait_until

COMMAND = [sys.executable, "-P", "-m", "chiron_api", "flower"]
SERVER = [sys.executable, "-P", "-m", "chiron_api.flower_server"]  # what the command becomes


@dataclass(frozen=True)
class FlowerServer:
    """A Flower that answers."""

    process: "subprocess.Popen[bytes]"
    port: int
    password: str
    log: Path

    def request(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers (in small letters) of the answer to who has the password; `Authorization=""` leaves it out."""
        token = base64.b64encode(f"chiron:{self.password}".encode()).decode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            method=method,
            headers={"Authorization": f"Basic {token}"} | headers,
            data=b"" if method == "POST" else None,
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.status, reply.read().decode(), _lowered(reply.headers)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode(), _lowered(error.headers)

    def send(self, raw: bytes) -> int:
        """The status of the answer to the bytes of a request."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(raw)
            with connection.makefile("rb") as answer:
                return int(answer.readline().split()[1])


@contextmanager
def flower(settings: Settings, folder: Path | None = None, **env: str) -> Iterator[FlowerServer]:
    """A Flower of these settings; the home's password is its own unless `env` sets one.

    With a folder it is started there by the command, as people start it. Without one it is forked as the server that the
    command becomes.
    """
    port = free_port()
    log = settings.home / "flower.log"
    command, popen = (SERVER, forked_python.Popen) if folder is None else (COMMAND, subprocess.Popen)
    with log.open("wb") as out:
        process = popen(
            command,
            env=environment(settings, CHIRON_FLOWER_PORT=str(port), **env),
            cwd=folder or settings.home,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until(lambda: process.poll() is not None or answers(port), what="Flower")
        assert process.poll() is None, log.read_text()
        file = flower_password_file(settings)
        password = env.get("CHIRON_FLOWER_PASSWORD") or file.read_text().strip()
        yield FlowerServer(process, port, password, log)
    finally:
        _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(90)
    finally:
        process.kill()  # nothing where it has ended


def _lowered(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def answers(port: int) -> bool:
    """Whether Flower says that it is healthy, to anybody."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthcheck", timeout=30) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


@contextmanager
def celery_flower(settings: Settings) -> Iterator[int]:
    """The port of a Flower that was started as everybody knows it."""
    port = free_port()
    process = forked_python.Popen(
        [sys.executable, "-m", "celery", "-A", "chiron_workers", "flower", f"--port={port}"],
        env=environment(settings),
        cwd=settings.home,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: process.poll() is not None or answers(port), what="Flower")
        yield port
    finally:
        _end(process)
