"""Watches an event loop from another thread: what blocks it, blocks every run of the worker."""

import asyncio
import sys
import threading
import time
import traceback
from collections import deque
from dataclasses import dataclass

import structlog

from chiron_workers import instruments
from chiron_workers.telemetry import metrics

log = structlog.get_logger()

STALL_S = 0.2
BEAT_S = 0.05
LASTING_S = 5.0  # a stall that lasts longer is logged before its end, too
FRAMES_MAX = 12  # of a logged stack, the innermost


class StallWatch:
    """Logs as `loop.stalled` each time an event loop stands still for more than `stall_s`, with the stack that holds it up.

    The stack is taken while the loop stands still. A process that was itself stopped, or got no processor, did not stall.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, *, stall_s: float = STALL_S) -> None:
        self._loop = loop
        self._stall_s = stall_s
        self._loop_thread = 0
        self._last_beat = 0.0
        self._ended: deque[tuple[float, float]] = deque(maxlen=100)  # stalls, as the beats before and after
        self._current: _Stall | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="chiron-stalls", daemon=True)

    def start(self) -> None:
        """Begin to watch; the loop runs already, in a thread of its own."""
        self._loop.call_soon_threadsafe(self._begin)

    def stop(self) -> None:
        """End the thread, within a second or so."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout=1)

    def _begin(self) -> None:
        self._loop_thread = threading.get_ident()
        self._last_beat = time.monotonic()
        self._beat()
        self._thread.start()

    def _beat(self) -> None:
        now = time.monotonic()
        if self._is_stall(self._last_beat, now):
            self._ended.append((self._last_beat, now))
        self._last_beat = now
        if not self._stopping.is_set():
            self._loop.call_later(BEAT_S, self._beat)

    def _watch(self) -> None:
        looked_at, used = time.monotonic(), time.process_time()
        while not self._stopping.wait(BEAT_S):
            now, used_now = time.monotonic(), time.process_time()
            if now - looked_at > self._stall_s and used_now - used < (now - looked_at) / 2:
                # This thread, too, stood still: the process was stopped, or the machine is busy.
                self._forgive(now)
            looked_at, used = now, used_now
            self._look(now)

    def _forgive(self, now: float) -> None:
        self._last_beat = now
        self._ended.clear()
        self._current = None

    def _look(self, now: float) -> None:
        while self._ended:
            began, ended = self._ended.popleft()
            stack = self._current.stack if self._current and self._current.began == began else ""
            metrics.record_stall(ended - began)
            instruments.record_stall(ended - began)
            log.warning("loop.stalled", ms=round((ended - began) * 1_000), stack=stack)
        began = self._last_beat
        if not self._is_stall(began, now):
            return
        if self._current is None or self._current.began != began:
            self._current = _Stall(began, self._stack())
        elif now - began > LASTING_S and not self._current.is_logged:
            self._current.is_logged = True
            log.error("loop.stands_still", ms=round((now - began) * 1_000), stack=self._current.stack)

    def _is_stall(self, began: float, ended: float) -> bool:
        return ended - began > self._stall_s + BEAT_S

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        return "".join(traceback.format_stack(frame)[-FRAMES_MAX:]) if frame else ""


@dataclass(slots=True)
class _Stall:
    """An event loop that stands still since a beat, and where."""

    began: float
    stack: str
    is_logged: bool = False
