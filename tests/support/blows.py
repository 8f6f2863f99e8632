"""When workers were struck and when the machine stood still: what explains that a complete reply is not stored."""

import threading
import time
from dataclasses import dataclass, field

from support.scripted_model import Ask

WAKING_S = 4.0  # in which a worker that was stopped or cut off may still work on what it has lost
BEAT_S = 0.05


@dataclass(frozen=True, slots=True)
class Blow:
    """A worker that was killed, stopped or cut off at a moment, until another (seconds of `time.time()`).

    The moment is that before the signal is sent, and the other one that at which a killed process was gone.
    """

    worker: str
    at: float
    until: float
    is_kill: bool = False

    def explains(self, ask: Ask, *, committed_within_s: float) -> bool:
        """Whether it can have cost the complete reply of an ask."""
        waking_s = 0.0 if self.is_kill else WAKING_S
        return (
            ask.client == self.worker
            and ask.received_at <= self.until + waking_s
            and ask.complete_at >= self.at - committed_within_s
        )


@dataclass
class Pulse:
    """How long the machine stood still, as a thread of the test saw it: when, and for how many seconds."""

    stalls: list[tuple[float, float]] = field(default_factory=list)
    _is_over: threading.Event = field(default_factory=threading.Event)

    def beat(self) -> None:
        before = time.time()
        while not self._is_over.wait(BEAT_S):
            stall_s = time.time() - before - BEAT_S
            if stall_s > BEAT_S:
                self.stalls.append((before, stall_s))
            before = time.time()

    def still_s(self, since: float, until: float) -> float:
        """Seconds for which it stood still between two moments."""
        return sum(stall_s for at, stall_s in self.stalls if since - stall_s <= at <= until)

    def stop(self) -> None:
        self._is_over.set()
