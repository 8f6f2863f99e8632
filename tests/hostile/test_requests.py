"""Requests that a web page makes a browser send to servers of its own machine: each file of requests/ is one.

Its first line says how it is refused, by Flower and by an API that asks for no key, also where the browser knows the password. An
API with a key refuses all of them, since no browser sends the key by itself.
"""

import base64
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from support import forked_python
from support.databases import Databases
from support.flower_server import flower
from support.worker_processes import environment, wait_until

from chiron_workers.settings import Settings

MEMBERS = sorted((Path(__file__).parent / "requests").glob("*.http"))


@dataclass(frozen=True)
class Server:
    """Where a server listens, and what a browser that has signed in to it sends."""

    port: int
    read: str
    write: str
    authorization: str = ""

    def status(self, member: Path) -> int:
        """The status of its answer to the request of a file."""
        _, _, text = member.read_text().partition("\n")
        head, _, body = text.partition("\n\n")
        for name, value in (("port", str(self.port)), ("read", self.read), ("write", self.write)):
            head = head.replace(f"{{{name}}}", value)
        lines = [*head.splitlines(), "Connection: close"]
        if self.authorization:
            lines.append(f"Authorization: {self.authorization}")
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall("\r\n".join([*lines, "", body]).encode())
            with connection.makefile("rb") as answer:
                return int(answer.readline().split()[1])


@pytest.fixture(scope="module")
def module_settings(
    databases: Databases, valkey: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    with databases.lend() as url:
        home = tmp_path_factory.mktemp("home")
        yield Settings(_env_file=None, home=home, database_url=url, redis_url=valkey)  # type: ignore[call-arg]


@pytest.fixture(scope="module")
def flower_server(module_settings: Settings) -> Iterator[Server]:
    with flower(module_settings) as started:
        token = base64.b64encode(f"chiron:{started.password}".encode()).decode()
        yield Server(started.port, "/api/tasks", "/api/worker/shutdown/w1@test", f"Basic {token}")


@pytest.fixture(scope="module")
def keyless_api(module_settings: Settings) -> Iterator[Server]:
    with api(module_settings, CHIRON_API_WITHOUT_KEY="true") as server:
        yield server


@pytest.fixture(scope="module")
def default_api(module_settings: Settings) -> Iterator[Server]:
    with api(module_settings) as server:
        yield server


@contextmanager
def api(settings: Settings, **env: str) -> Iterator[Server]:
    command = [sys.executable, "-m", "chiron_api", "api", "--port", "0"]
    log = settings.home / "api.log"
    with (
        log.open("wb") as errors,
        forked_python.Popen(
            command,
            env=environment(settings, **env),
            cwd=settings.home,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline().rpartition(":")[2])
            server = Server(port, "/v1/subjects", "/v1/tools/list_subjects")
            wait_until(lambda: "startup complete" in log.read_text(), what="the API")
            yield server
        finally:
            process.terminate()


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.stem)
def test_a_request_that_a_web_page_provokes_is_refused(
    member: Path, flower_server: Server, keyless_api: Server, default_api: Server
) -> None:
    statuses = [
        int(word) for word in member.read_text().splitlines()[0].removeprefix("# refused: ").split(" or ")
    ]
    assert flower_server.status(member) in statuses
    assert keyless_api.status(member) in statuses
    assert default_api.status(member) in {401, 400}


def test_an_honest_request_is_answered_by_each(
    flower_server: Server, keyless_api: Server, default_api: Server, tmp_path: Path
) -> None:
    honest = tmp_path / "honest.http"
    honest.write_text(
        "# answered\nGET {read} HTTP/1.1\nHost: localhost:{port}\nOrigin: http://localhost:{port}\n"
    )
    assert [server.status(honest) for server in (flower_server, keyless_api, default_api)] == [200, 200, 401]
