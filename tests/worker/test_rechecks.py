"""A worker performs the rechecks that are ordered."""

import asyncio

from support.worker_processes import rows, running, wait_until

from chiron_workers.ids import new_id
from chiron_workers.settings import Settings


async def test_a_worker_performs_an_ordered_recheck(settings: Settings) -> None:
    rows(settings, "insert into subjects (id, title) values ('ice', 'Ice') returning 1")
    rows(settings, "insert into rechecks (id, subject_id) values (%s, 'ice') returning 1", [new_id()])
    with running(settings, CHIRON_RESCUE_S="0.5", CHIRON_MODEL="offline"):
        query = "select outcome, error from rechecks where finished_at is not null"
        [recheck] = await asyncio.to_thread(wait_until, lambda: rows(settings, query))
    assert (recheck["outcome"]["sources"], recheck["error"]) == (0, "")
