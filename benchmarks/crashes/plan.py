"""What goes wrong in one crash test, in which order: it follows from the seed."""

import random
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """One way in which a process is struck."""

    KILL = "worker killed"
    STOP = "worker stopped past its lease"
    VALKEY = "Valkey killed and emptied"
    POSTGRES_CRASH = "Postgres stopped at once"
    POSTGRES_RESTART = "Postgres restarted"
    BACKEND = "Postgres backend killed"


# Each at least once; workers die the most.
DEALT = {
    Fault.KILL: 5,
    Fault.STOP: 4,
    Fault.VALKEY: 2,
    Fault.POSTGRES_CRASH: 1,
    Fault.POSTGRES_RESTART: 1,
    Fault.BACKEND: 1,
}


@dataclass(frozen=True, slots=True)
class Blow:
    """A fault, dealt when `share` of all turns are answered. `place` is the worker, `seconds` how long it lasts."""

    share: float
    fault: Fault
    place: int
    seconds: float


def plan(seed: int, *, workers: int, lease_s: float, only: Fault | None = None) -> list[Blow]:
    """The blows of a seed, in order."""
    chance = random.Random(seed)
    faults = [fault for fault, count in DEALT.items() for _ in range(count)]
    if only is not None:
        faults = [only] * DEALT[only]
    chance.shuffle(faults)
    shares = sorted(chance.uniform(0.04, 0.9) for _ in faults)
    return [
        Blow(share, fault, chance.randrange(workers), _seconds(fault, chance, lease_s))
        for share, fault in zip(shares, faults, strict=True)
    ]


def _seconds(fault: Fault, chance: random.Random, lease_s: float) -> float:
    if fault is Fault.STOP:
        return lease_s + chance.uniform(1.5, 4.0)
    return chance.uniform(0.2, 3.0)
