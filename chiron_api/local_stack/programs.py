"""The programs of a stack: their command lines, and how each is stopped."""

import json
import os
import socket
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pydantic import SecretStr

from chiron_api.local_stack import postgres, valkey
from chiron_api.local_stack.home import Home
from chiron_api.local_stack.ports import web_address
from chiron_workers.settings import Settings

HANDBACK_S = 25  # after its drain, for a worker to hand its runs back and close its connections
# Without -P the folder of the home would come first on the path that modules are found on.
CHIRON = [sys.executable, "-P", "-m", "chiron_api"]


class Kind(StrEnum):
    """What a part is."""

    POSTGRES = "postgres"
    REDIS = "redis"
    WORKER = "worker"
    API = "api"
    FLOWER = "flower"


# Parts of a higher priority are stopped first: workers drain while everything they need still runs.
PRIORITY = {Kind.POSTGRES: 10, Kind.REDIS: 20, Kind.FLOWER: 30, Kind.API: 40, Kind.WORKER: 50}


@dataclass(frozen=True, slots=True)
class Program:
    """One process that the supervisor keeps alive."""

    name: str
    kind: Kind
    command: list[str]
    address: str = ""
    stop_signal: str = "TERM"
    stop_within_s: int = 15
    user: str = ""
    steady_after_s: int = 1  # A program that ends sooner counts as failed to start; each retry waits longer.


def postgres_program(home: Home, *, connections: int) -> Program:
    """PostgreSQL; SIGINT is its fast shutdown, which waits for no client."""
    return Program(
        "postgres",
        Kind.POSTGRES,
        postgres.command(home, connections=connections),
        address=postgres.url(home),
        stop_signal="INT",
        stop_within_s=60,
        user=postgres.account(home),
    )


def valkey_program(home: Home) -> Program:
    """Valkey."""
    return Program("valkey", Kind.REDIS, valkey.command(home), address=valkey.address(home))


def worker_programs(settings: Settings, *, workers: int, concurrency: int) -> list[Program]:
    """The workers; each may finish the calls in flight before it is killed."""
    return [
        Program(
            name,
            Kind.WORKER,
            [*CHIRON, "worker", "--name", name, "--concurrency", str(concurrency)],
            stop_within_s=round(settings.drain_s) + HANDBACK_S,
            steady_after_s=10,
        )
        for name in (f"worker-{number}" for number in range(1, workers + 1))
    ]


def api_program(settings: Settings) -> Program:
    """The HTTP API."""
    address = web_address(settings.api_host, settings.api_port)
    return Program("api", Kind.API, [*CHIRON, "api"], address=address, steady_after_s=10)


def flower_program(settings: Settings) -> Program:
    """Flower."""
    address = web_address(settings.flower_host, settings.flower_port)
    return Program("flower", Kind.FLOWER, [*CHIRON, "flower"], address=address, steady_after_s=10)


def node_name(name: str, pid: int) -> str:
    """A worker's name in Celery and Flower. The pid makes it unique among all that share a broker."""
    return f"{name}-{pid}@{socket.gethostname()}"


def environment(settings: Settings, **overrides: str) -> dict[str, str]:
    """The settings that were set explicitly, as variables for a part, so that no secret is in an argv.

    The project is always among them: the parts run in another folder than the command that starts them.
    """
    names = settings.model_fields_set | {"project"}
    values = {name: _text(getattr(settings, name)) for name in names}
    return {f"CHIRON_{name.upper()}": value for name, value in (values | overrides).items()}


def _text(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, dict | list):
        return json.dumps(value, default=str)
    if isinstance(value, tuple):  # of folders
        return os.pathsep.join(map(str, value))
    return str(value.absolute() if isinstance(value, Path) else value)
