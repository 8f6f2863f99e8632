"""The tool of the benchmarks: it gives a few sentences and keeps one row, without network or embedding."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from chiron_workers.db.queries import load
from chiron_workers.store import Store
from chiron_workers.toolkit import tool
from chiron_workers.tools import registry

SQL = load(__file__)
KEEP = SQL["keep"]
PROSE = (
    "The tide follows the moon by about fifty minutes a day, and the height of it follows the season. " * 3
)

_listeners: list[Callable[[str], None]] = []


def passage(query: str) -> dict[str, str]:
    """What the tool answers; the bare loop calls this and keeps nothing."""
    tell(query)
    return {"query": query, "passage": PROSE}


def tell(query: str) -> None:
    """Tell whoever listens in this process that a turn has come to its tools."""
    for listener in _listeners:
        listener(query)


@tool
async def look_up(store: Store, *, query: str) -> dict[str, str]:
    """Look up a passage on a question.

    Args:
        query: What you want to know.
    """
    found = passage(query)
    await store.session.write(KEEP, row_of(str(store.caller.run_id), str(store.caller.call_id), query))
    return found


def row_of(run: str, call_id: str, query: str) -> dict[str, str]:
    """The arguments of KEEP."""
    return {"run_id": run, "call_id": call_id, "query": query}


@contextmanager
def calls_told_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Tell of each call in this process, with its query: one call is one turn."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def create_table(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(SQL["create"])


def offer_alone() -> None:
    """Offer this tool to the runs of this process, and no other."""
    offered = registry()
    for known in offered.all():
        offered.unregister(known.name)
    offered.register(look_up)
