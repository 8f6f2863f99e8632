"""A log of what was asked and what was answered, for tests that count."""

import json
import time
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from chiron_workers.offline.api.faults import Fault

Event = Literal["received", "answered", "cut"]


class RequestLog:
    """Appends one JSON line an event, flushed at once; without a path it writes nothing."""

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("a", buffering=1, encoding="utf-8") if path else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def note(
        self, event: Event, *, request_id: str, conversation: str, turn: int, fault: Fault | None
    ) -> None:
        """Write down an event: `answered` once the last byte was handed over, `cut` for anything less."""
        if self._file:
            line = {
                "at": round(time.time(), 6),
                "event": event,
                "request_id": request_id,
                "conversation": conversation,
            }
            self._file.write(json.dumps({**line, "turn": turn, "fault": fault}) + "\n")
