"""A log of what was asked and what was answered, for tests that count."""

import json
import time
from pathlib import Path
from typing import Literal


class RequestLog:
    """Appends one JSON line an event, flushed at once; without a path it writes nothing."""

    def __init__(self, path: Path | None) -> None:
        self._file = path.open("a", buffering=1, encoding="utf-8") if path else None

    def close(self) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def note(self, event: Literal["received", "answered", "cut"], **fields: object) -> None:
        """Write down an event: `answered` once the last byte was handed over, `cut` for anything less."""
        if self._file:
            self._file.write(json.dumps({"at": round(time.time(), 6), "event": event, **fields}) + "\n")
