"""What the model server saw: how often each turn of each run was answered, and which repeats a crash explains."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crashes.consistency import LoggedReply
from crashes.fleet import Crash

# From the last byte of a reply to its commit, on a machine with other work to do.
COMMIT_S = 2.0
# A reply that a worker holds while Postgres is away is in flight, too, and so it is until all of them are committed.
IN_HAND_S = 10.0
# A worker that wakes goes on with what nobody has rescued yet, and may lose it until it has renewed.
WAKING_S = 4.0


@dataclass(slots=True)
class Call:
    """One call of the model: `became` is answered, cut or refused, and empty while it is in flight."""

    number: int
    worker: str
    run: str
    turn: int
    received_at: float
    complete_at: float = 0.0  # when the last byte of message_stop was written
    ended_at: float = 0.0
    became: str = ""
    fault: str = ""
    errors: int = 0


@dataclass(slots=True)
class Witness:
    """Reads the log of the model server as it grows."""

    log: Path
    calls: dict[int, Call] = field(default_factory=dict)
    _read: int = 0

    def look(self) -> list[Call]:
        """Read what is new; the calls that were received since the last look."""
        fresh = []
        with self.log.open() as file:
            file.seek(self._read)
            while (line := file.readline()).endswith("\n"):
                self._read = file.tell()
                if call := self._take(json.loads(line)):
                    fresh.append(call)
        return fresh

    def in_flight(self, worker: str) -> list[Call]:
        return [call for call in self.calls.values() if call.worker == worker and not call.became]

    def answered(self) -> int:
        """How many turns were answered, each counted once."""
        return len({(call.run, call.turn) for call in self.calls.values() if call.became == "answered"})

    def logged(self) -> list[LoggedReply]:
        """The log as the check of consistency reads it."""
        return [
            LoggedReply(f"req_{call.number}", call.run, is_complete=call.became == "answered")
            for call in self.calls.values()
        ]

    def repeated(self) -> set[str]:
        """The request ids of the replies to turns that were answered more than once; `tally` judges those."""
        answers = [call for call in self.calls.values() if call.became == "answered"]
        times = Counter((call.run, call.turn) for call in answers)
        return {f"req_{call.number}" for call in answers if times[call.run, call.turn] > 1}

    def _take(self, line: dict[str, Any]) -> Call | None:
        if line["event"] == "received":
            call = Call(
                line["call"], line["worker"], line["run"], line["turn"], line["at"], errors=line["errors"]
            )
            self.calls[call.number] = call
            return call
        call = self.calls[line["call"]]
        call.became, call.complete_at, call.fault = line["event"], line["complete_at"], line["fault"]
        call.ended_at = line["at"]
        return None


@dataclass(frozen=True, slots=True)
class Tally:
    """The sums of one test. `unexplained` are by run the answers given again to a run that no crash can have cost one."""

    answered: int
    repeated: int
    cut_by_worker: int
    faults: dict[str, int]
    missing: list[str]
    unexplained: dict[str, str]
    errors: int
    lost: dict[str, tuple[int, int]]  # by run the answers given again, and those with the calls that were cut


def tally(
    calls: Sequence[Call],
    crashes: Sequence[Crash],
    expected: dict[str, int],
    *,
    outages: Sequence[tuple[float, float]] = (),
) -> Tally:
    """Judge all calls against what is promised.

    Args:
        expected: How many turns each run has.
        outages: From when until when Postgres was away.
    """
    answers = defaultdict(list)
    for call in calls:
        if call.became == "answered":
            answers[call.run, call.turn].append(call)
    missing = [
        f"{run}/{n}" for run, turns in expected.items() for n in range(turns) if (run, n) not in answers
    ]
    return Tally(
        answered=sum(map(len, answers.values())),
        repeated=sum(len(found) - 1 for found in answers.values()),
        cut_by_worker=sum(call.became == "cut" and not call.fault for call in calls),
        faults=dict(Counter(call.fault for call in calls if call.fault)),
        missing=missing,
        unexplained=unexplained(answers, crashes, outages),
        errors=sum(call.errors for call in calls),
        lost={run: _lost([call for call in calls if call.run == run]) for run in expected},
    )


def _lost(calls: Sequence[Call]) -> tuple[int, int]:
    answers = [call.turn for call in calls if call.became == "answered"]
    again = len(answers) - len(set(answers))
    return again, again + sum(call.became != "answered" for call in calls)


def unexplained(
    answers: dict[tuple[str, int], list[Call]],
    crashes: Sequence[Crash],
    outages: Sequence[tuple[float, float]] = (),
) -> dict[str, str]:
    """By run the repeats beyond the promise: one call for each crash and run, and only one that was in flight at that crash."""
    found: dict[str, str] = {}
    excused: set[tuple[str, int]] = set()
    for (run, turn), calls in sorted(answers.items()):
        wasted = 0
        for call in calls:
            crash = next(
                (
                    n
                    for n, crash in enumerate(crashes)
                    if (run, n) not in excused and _was_hit(call, crash, outages)
                ),
                None,
            )
            if crash is not None and wasted < len(calls) - 1:
                excused.add((run, crash))
                wasted += 1
        if wasted < len(calls) - 1:
            who = ", ".join(f"{call.worker} {call.received_at:.2f}-{call.complete_at:.2f}" for call in calls)
            found[run] = f"{run}/{turn} was answered {len(calls)} times: {who}"
    return found


def _was_hit(call: Call, crash: Crash, outages: Sequence[tuple[float, float]]) -> bool:
    is_at_outage = any(at <= crash.at <= until + IN_HAND_S for at, until in outages)
    return (
        call.worker == crash.worker
        and call.received_at <= crash.until + WAKING_S * (crash.kind == "stop")
        and call.complete_at >= crash.at - (IN_HAND_S if is_at_outage else COMMIT_S)
    )
