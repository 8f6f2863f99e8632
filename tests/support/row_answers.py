"""Runs that hand in rows: submitted with columns, and played by a script that makes these calls."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.runs.columns import read_columns
from chiron_workers.states import Outcome
from chiron_workers.tools import registry
from support.research_rows import Shelf
from support.run_harness import Stage
from support.scripted_model import Block, Says, call, calls, says, turn

COLUMNS = "name, year:int, source"
RELEASE = "PostgreSQL was first released in 1996."
SITE = "https://www.postgresql.org/about"


def known_fact(
    shelf: Shelf, content: str = RELEASE, *, subject: str = "databases", url: str = SITE, **more: Any
) -> UUID:
    """A fact with its quote."""
    return shelf.fact(subject, content, url, "history", quote=content, text=f"{content} And more.", **more)


def cell(value: Any, *facts: UUID | str) -> dict[str, Any]:
    """A cell with its facts."""
    return {"value": value, "facts": [str(fact) for fact in facts]}


def empty(reason: str = "No source says so.") -> dict[str, Any]:
    """An empty cell with its reason."""
    return {"value": None, "reason": reason}


def row(*cells: dict[str, Any], columns: str = COLUMNS, **more: Any) -> dict[str, Any]:
    """A row with its cells in the order of the columns."""
    names = [column.name for column in read_columns(columns)]
    return {"cells": dict(zip(names, cells, strict=True))} | more


def handing_in(*rows: dict[str, Any]) -> Block:
    """A call that hands in rows."""
    return call("hand_in_rows", rows=list(rows))


async def submit_rows(
    stage: Stage, *topics: str, columns: str = COLUMNS, subject: str = "databases", max_turns: int = 9
) -> list[UUID]:
    """Queued runs of one batch that is asked for rows."""
    stage.registry = registry()
    runs = [
        NewRun(topic, "research", subject, stage.model_name, max_turns)
        for topic in topics or ("When were databases first released?",)
    ]
    return (await submit(stage.pool, NewBatch(runs, subject, columns=read_columns(columns)))).run_ids


async def play_rows(
    stage: Stage,
    *replies: Says,
    columns: str = COLUMNS,
    judge: Callable[[dict[str, Any]], Says] | None = None,
) -> tuple[UUID, Outcome, list[str]]:
    """A run that makes these calls: its id, how it ended, and the results that it was shown."""

    def script(request: dict[str, Any]) -> Says:
        steps = [*replies, says("Done.")]
        return steps[min(turn(request), len(steps) - 1)]

    await stage.model(script, judge=judge)
    [run_id] = await submit_rows(stage, columns=columns)
    outcome = await stage.play(run_id)
    messages = stage.server.requests[-1]["messages"]
    blocks = [block for message in messages for block in message["content"] if isinstance(block, dict)]
    return run_id, outcome, [str(block["content"]) for block in blocks if block["type"] == "tool_result"]


def one_call(*rows: dict[str, Any]) -> Says:
    """A reply that hands in rows."""
    return calls(handing_in(*rows))
