"""The programs of a stack: their command lines, and how each is stopped."""

import sys
from dataclasses import dataclass
from enum import StrEnum

from chiron_api.local_stack import postgres, valkey
from chiron_api.local_stack.home import Home
from chiron_api.local_stack.ports import web_address
from chiron_api.local_stack.service_environment import command_without_keys
from chiron_workers.settings import Settings
from chiron_workers.worker.names import host_name

CONNECTIONS_BESIDE_POOL = 3  # of a process: lease renewal, rescue, and one more query
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
    steady_after_s: int = 1  # A program that ends sooner counts as failed to start; each retry waits longer.


def stack_programs(
    settings: Settings, home: Home, *, workers: int, concurrency: int, kinds: frozenset[Kind]
) -> list[Program]:
    """The services whose URLs are not set, then the workers, the API and Flower as far as `kinds` names them."""
    programs = []
    if not settings.database_url:
        connections = (workers + 1) * (settings.pool_size + CONNECTIONS_BESIDE_POOL)
        programs.append(
            Program(
                "postgres",
                Kind.POSTGRES,
                command_without_keys(postgres.command(home, connections=connections)),
                address=postgres.url(home),
                stop_signal="INT",  # its fast shutdown, which waits for no client
                stop_within_s=60,
            )
        )
    if not settings.redis_url:
        command = command_without_keys(valkey.command(home))
        programs.append(Program("valkey", Kind.REDIS, command, address=valkey.address(home)))
    programs += [
        Program(
            name,
            Kind.WORKER,
            [*CHIRON, "worker", "--name", name, "--concurrency", str(concurrency)],
            stop_within_s=round(settings.drain_s) + HANDBACK_S,  # the calls in flight are finished first
            steady_after_s=10,
        )
        for name in (f"worker-{number}" for number in range(1, workers + 1))
        if Kind.WORKER in kinds
    ]
    addresses = {
        Kind.API: web_address(settings.api_host, settings.api_port),
        Kind.FLOWER: web_address(settings.flower_host, settings.flower_port),
    }
    return programs + [
        Program(kind, kind, [*CHIRON, kind], address=address, steady_after_s=10)
        for kind, address in addresses.items()
        if kind in kinds
    ]


def node_name(name: str, pid: int) -> str:
    """A worker's name in Celery and Flower. The pid, and the id of a container, make it unique among all that share a broker."""
    return f"{name}-{pid}@{host_name()}"
