"""The log of one run: its events from Postgres, and the lines that workers of this machine wrote about it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import UUID

from chiron_workers.runs.events import Event

LINE_BYTES_MAX = 1_000_000
WORKER_LOG = re.compile(r"worker-\d+\.log(\.\d+)?")
FIELDS_OF_HEAD = frozenset({"run_id", "batch_id", "timestamp", "event", "level"})


@dataclass(frozen=True, slots=True)
class Line:
    """An event of a run, or a line that a worker logged while it executed the run."""

    at: datetime
    source: str  # `event`, or the name of the worker's file
    fields: Mapping[str, Any]  # the event or the worker's line as JSON

    def to_json(self) -> str:
        """The line as one line of JSON, with `source`."""
        return json.dumps({"source": self.source, **self.fields}, default=str)


def line_of_event(event: Event) -> Line:
    """An event as a line of the log."""
    return Line(event.at, "event", json.loads(event.to_json()))


def merge(events: Sequence[Line], others: Sequence[Line]) -> list[Line]:
    """Merge events and lines of workers by time. The events keep their order even if a clock was set back."""
    latest = accumulate((event.at for event in events), max)
    timed = [*zip(latest, events, strict=True), *((line.at, line) for line in others)]
    return [line for _, line in sorted(timed, key=itemgetter(0))]


class WorkerFiles:
    """The lines about one run in the log files of a home's workers, each read on from where the last call ended."""

    def __init__(self, folder: Path, run_id: UUID) -> None:
        self._folder = folder
        self._run_id = str(run_id)
        self._offsets: dict[int, int] = {}  # by inode, which a file keeps when it is rotated

    def new_lines(self) -> list[Line]:
        """The lines about the run since the last call, by time."""
        lines = [line for file in self._files() for line in self._lines_of(file)]
        return sorted(lines, key=lambda line: line.at)

    def _files(self) -> list[Path]:
        try:
            return sorted(file for file in self._folder.iterdir() if WORKER_LOG.fullmatch(file.name))
        except OSError:
            return []  # none was started here

    def _lines_of(self, file: Path) -> Iterator[Line]:
        marker = self._run_id.encode()
        try:
            with file.open("rb") as stream:
                inode = file.stat().st_ino
                stream.seek(self._offsets.get(inode, 0))
                for data in iter(lambda: stream.readline(LINE_BYTES_MAX), b""):
                    if not data.endswith(b"\n") and len(data) < LINE_BYTES_MAX:
                        break  # it is being written
                    self._offsets[inode] = stream.tell()
                    if marker in data and (line := self._parse(data, file.name)):
                        yield line
        except FileNotFoundError:  # rotated away meanwhile
            return

    def _parse(self, data: bytes, name: str) -> Line | None:
        try:
            fields = json.loads(data)
            at = datetime.fromisoformat(fields["timestamp"])
        except (ValueError, KeyError, TypeError):
            return None  # no log line, such as a line of a traceback
        if fields.get("run_id") != self._run_id:
            return None
        return Line(at if at.tzinfo else at.replace(tzinfo=UTC), name.partition(".log")[0], fields)
