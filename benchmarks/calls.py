"""What the model server's own log says: which calls came, which were answered, and which of those came again."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

Call = tuple[str, int]  # a conversation and the number of its turn


@dataclass(frozen=True, slots=True)
class Noted:
    """One line of the log; a call is answered once its last byte was handed over."""

    at: float
    event: str
    call: Call


@dataclass(slots=True)
class CallLog:
    """Reads a log while it grows."""

    path: Path
    _offset: int = 0

    def news(self) -> list[Noted]:
        """The lines since the last look."""
        if not self.path.exists():
            return []
        with self.path.open("rb") as file:
            file.seek(self._offset)
            lines = file.read().split(b"\n")
        self._offset += sum(len(line) + 1 for line in lines[:-1])
        return [_noted(json.loads(line)) for line in lines[:-1]]


def _noted(line: dict[str, object]) -> Noted:
    return Noted(
        float(str(line["at"])), str(line["event"]), (str(line["conversation"]), int(str(line["turn"])))
    )


@dataclass(frozen=True, slots=True)
class Again:
    """How many answers were given to calls that had been answered, by when the first answer was given.

    `before` the process was stopped, so that it had the answer or was about to, and how many seconds before at most;
    `in_flight` then, so that nobody could know; `after`, when two processes paid for the same turn.
    """

    before: int
    before_by_s: float
    in_flight: int
    after: int


def answered_again(noted: Iterable[Noted], *, stopped_at: float) -> Again:
    """What was paid for more than once."""
    asked: dict[Call, float] = {}
    answers: dict[Call, list[float]] = {}
    for line in noted:
        if line.event == "received":
            asked.setdefault(line.call, line.at)
        elif line.event == "answered":
            answers.setdefault(line.call, []).append(line.at)
    again = [(asked[call], times[0]) for call, times in answers.items() for _ in times[1:]]
    before = [stopped_at - answered for _, answered in again if answered < stopped_at]
    after = sum(asked_at >= stopped_at for asked_at, _ in again)
    return Again(len(before), max(before, default=0.0), len(again) - len(before) - after, after)


def until_next_call(noted: Iterable[Noted], *, stopped_at: float) -> list[float]:
    """Seconds from the stop until the next call of each conversation that was not at its end."""
    first: dict[str, float] = {}
    for line in noted:
        if line.event == "received" and line.at > stopped_at:
            first.setdefault(line.call[0], line.at - stopped_at)
    return list(first.values())
