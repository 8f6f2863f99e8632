"""A store whose database nobody opens, for remote tools that are called outside of a run."""

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from chiron_workers.embeddings.minilm import MiniLM
from chiron_workers.runs.session import Session
from chiron_workers.store import Store


def detached_store() -> Store:
    """A person's own store. What it decides by the caller alone works; a question to the database fails."""
    pool = AsyncConnectionPool(connection_class=AsyncConnection[DictRow], open=False)
    return Store(Session(pool), MiniLM())
