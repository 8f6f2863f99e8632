"""Whether the rows of runs agree with each other and with the log of the model server: each disagreement as a sentence.

All rows are read in one snapshot, so that what concerns rows alone holds at any moment, also while runs are played.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import IsolationLevel
from psycopg.rows import DictRow, dict_row

from chiron_workers.db.queries import load

SQL = load(__file__)

# Queries that must have no row, and what it means if they have one.
DISAGREEMENTS = {
    "event_numbers": "the events have gaps",
    "event_times": "the events are not in the order of their times",
    "entry_numbers": "the entries have gaps",
    "epochs": "epochs or leases go back, or an epoch has no opening",
    "lease_tokens": "two executions wrote under one lease",
    "missing_results": "a tool call has no result",
    "stray_results": "a result belongs to no call",
    "call_events": "calls and their events differ",
    "result_events": "results and their events differ",
    "counts": "a count of the run is wrong",
    "tokens": "a count of tokens is wrong",
    "reservations": "money is reserved or unconfirmed that cannot be",
    "write_offs": "more is written off than is unconfirmed",
    "leases": "a lease and the state contradict each other",
    "batches": "a sum of the batch is wrong",
    "batch_ends": "the batch is not closed as it should be",
    "days": "the sums of the days are wrong",
}


@dataclass(frozen=True, slots=True)
class LoggedReply:
    """An ask of the model server's log.

    Args:
        run: The first word of the run's topic; empty where the log cannot tell.
        is_complete: Whether the last byte of the reply was written to a client that was still there.
        content: The blocks that were sent; None where the stored ones may differ.
        side_question: What a tool of the run asked, which is no part of its conversation and is stored as tokens only.
        tokens: What the server says the ask took.
    """

    request_id: str
    run: str
    is_complete: bool
    content: Sequence[Mapping[str, Any]] | None = None
    side_question: str = ""
    tokens: int = 0


def snapshot(database_url: str) -> psycopg.Connection[DictRow]:
    """A connection that sees the rows of one moment."""
    connection = psycopg.connect(database_url, row_factory=dict_row)
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    return connection


def disagreements(
    connection: psycopg.Connection[DictRow],
    log: Iterable[LoggedReply],
    *,
    lost: Collection[str] = (),
    outages: int = 0,
) -> list[str]:
    """What does not add up within the tables, and between them and the log; no run may be played meanwhile.

    Takes the arguments of `against_log`.
    """
    return [*among_rows(connection), *against_log(connection, log, lost=lost, outages=outages)]


def against_log(
    connection: psycopg.Connection[DictRow],
    log: Iterable[LoggedReply],
    *,
    lost: Collection[str] = (),
    outages: int = 0,
) -> list[str]:
    """What does not add up between the tables and the log.

    Args:
        lost: The request ids of complete replies that a fault explains, and that therefore need not be stored.
        outages: How often Postgres was away: each may have hidden that a reservation was committed.
    """
    asks = {ask.request_id: ask for ask in log}
    rows = connection.execute(SQL["replies"]).fetchall()
    runs = connection.execute(SQL["runs"]).fetchall()
    stored = {row["request_id"] for row in rows}
    answers = [ask for ask in asks.values() if ask.side_question and ask.is_complete]
    elsewhere = stored | {ask.request_id for ask in answers}
    wasted = [ask for request_id, ask in asks.items() if request_id not in elsewhere]
    return [
        *_without_origin(rows, asks),
        *(
            f"{ask.run}: the reply {ask.request_id} was complete and is stored nowhere"
            for ask in wasted
            if ask.is_complete and ask.request_id not in lost
        ),
        *_side_answers(runs, answers, lost),
        *_wrongly_unconfirmed(runs, wasted, answers, outages),
    ]


def among_rows(connection: psycopg.Connection[DictRow]) -> Iterator[str]:
    """What does not add up within the tables, at any moment."""
    for query, meaning in DISAGREEMENTS.items():
        for row in connection.execute(SQL[query], {}).fetchall():
            yield f"{_name(row)}: {meaning}: {row['difference']}"


def _without_origin(rows: Sequence[DictRow], asks: Mapping[str, LoggedReply]) -> Iterator[str]:
    """Replies that stand twice, or that the server did not send so."""
    times = Counter(row["request_id"] for row in rows)
    for row in rows:
        place = f"{_name(row)}: the reply {row['request_id']} in entry {row['n']}"
        ask = asks.get(row["request_id"])
        if times[row["request_id"]] > 1:
            yield f"{place} stands {times[row['request_id']]} times"
        if ask is None:
            yield f"{place} was never sent"
        elif not ask.is_complete:
            yield f"{place} was never sent to its end"
        elif ask.run and ask.run != _run(row):
            yield f"{place} was sent to {ask.run}"
        elif ask.content is not None and list(ask.content) != row["content"]:
            yield f"{place} is not what was sent: {row['content']} for {list(ask.content)}"


def _side_answers(
    runs: Sequence[DictRow], answers: Sequence[LoggedReply], lost: Collection[str]
) -> Iterator[str]:
    """What a tool asked twice, and runs that were not charged for what their tools asked.

    Which of the lost answers were stored after all no row says.
    """
    least: Counter[str] = Counter()
    most: Counter[str] = Counter()
    for ask in answers:
        most[ask.run] += ask.tokens
        least[ask.run] += ask.tokens * (ask.request_id not in lost)
    for (run, question), times in Counter(
        (ask.run, ask.side_question) for ask in answers if ask.request_id not in lost
    ).items():
        if times > 1:
            yield f"{run}: a tool's question was answered {times} times: {question}"
    for row in runs:
        run, tokens = _run(row), row["side_tokens"]
        if not least[run] <= tokens <= most[run]:
            yield (
                f"{_name(row)}: the answers to its tools are counted as {tokens} tokens, "
                f"and the log has {least[run]} to {most[run]}"
            )


def _wrongly_unconfirmed(
    runs: Sequence[DictRow], wasted: Sequence[LoggedReply], answers: Sequence[LoggedReply], outages: int
) -> Iterator[str]:
    # An answer to a tool may be among those that were lost. A worker that died between reserving and asking has left no
    # line in the log, so each rescue explains a call.
    least = Counter(ask.run for ask in wasted if ask.is_complete)
    most = Counter(ask.run for ask in (*wasted, *answers))
    for row in runs:
        run, calls = _run(row), row["unconfirmed_calls"]
        if not least[run] <= calls <= most[run] + row["rescues"] + outages:
            yield (
                f"{_name(row)}: {calls} calls are unconfirmed, and the log has {least[run]} that brought a lost reply, "
                f"{most[run]} that brought none or a lost one, and the run was rescued {row['rescues']} times"
            )


def _run(row: DictRow) -> str:
    return str(row["topic"]).partition(" ")[0]


def _name(row: DictRow) -> str:
    return f"{row['topic']} ({row['id']})"
