from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.runs.session import Caller, Session
from chiron_workers.store import Store
from chiron_workers.tools import registry

Call = Callable[..., Awaitable[Any]]


@pytest.fixture
def call(pool: Pool, embedder: Embedder) -> Call:
    """Calls a tool with arguments as a model sends them, in a transaction of its own: `await call("name", {...})`."""

    async def execute(name: str, arguments: dict[str, Any], caller: Caller | None = None) -> Any:
        async with Store(Session(pool, caller or Caller()), embedder) as store:
            return await registry().execute(name, store, arguments)

    return execute


@pytest.fixture
async def in_a_run(pool: Pool) -> Caller:
    """A caller within a run on the subject "Moon"."""
    run = NewRun("the moon", "research", "Moon", "offline", 10)
    submitted = await submit(pool, NewBatch([run], "Moon"))
    return Caller("local", submitted.run_ids[0], submitted.batch_id, "call-1", "moon")
