"""The batch of a crash test: runs that know where to write."""

import asyncio
from uuid import UUID

from chiron_workers.batches.steering import resume
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.knowledge.coverage.nodes import Nodes, draft
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from crashes.replies import SUBJECT, topic

MODEL = "claude-opus-5-5"


def start_batch(settings: Settings, *, runs: int, turns: int) -> UUID:
    """Submit; the batch's id. Run n is called r<n>."""
    return asyncio.run(_start(settings, runs, turns))


def resume_batch(settings: Settings, batch_id: UUID) -> None:
    """Resume the paused runs of a batch, as `chiron resume` does."""
    asyncio.run(_resume(settings, batch_id))


async def _resume(settings: Settings, batch_id: UUID) -> None:
    async with open_pool(settings.database_url, size=1) as pool:
        await resume(pool, batch_id)
    await notify(settings.redis_url, batch_id)


async def _start(settings: Settings, runs: int, turns: int) -> UUID:
    async with open_pool(settings.database_url, size=2) as pool:
        async with Session(pool) as session:
            await Subjects(session).ensure(SUBJECT, SUBJECT)
            nodes = [
                await Nodes(session).save(
                    draft(subject_id=SUBJECT, title=f"of r{n:03}", description="Answers.")
                )
                for n in range(runs)
            ]
        topics = [topic(f"r{n:03}", node["node_id"]) for n, node in enumerate(nodes)]
        new = [NewRun(words, "research", SUBJECT, MODEL, turns + 10) for words in topics]
        submitted = await submit(pool, NewBatch(new, SUBJECT))
    await notify(settings.redis_url, submitted.batch_id)
    return submitted.batch_id
