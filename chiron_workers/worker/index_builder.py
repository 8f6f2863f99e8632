import asyncio
import dataclasses
import random

import psycopg
import structlog

from chiron_workers.embeddings import Space
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.knowledge.search.vector_indexes import maintain_indexes
from chiron_workers.settings import Settings

log = structlog.get_logger()

INTERVAL_S = 300.0


async def build_vector_indexes(settings: Settings, space: Space) -> None:
    """Build the vector indexes that a subject has outgrown, every few minutes; never ends."""
    while True:
        await asyncio.sleep(INTERVAL_S * random.uniform(0.5, 1))  # noqa: S311  # so that workers take turns
        try:
            for index in await maintain_indexes(settings.database_url, space):
                log.info("vectors.indexed", **dataclasses.asdict(index))
        except (psycopg.Error, ServiceUnavailable) as error:
            # A full disk or a server of too little memory: searches stay exact and slower, runs go on.
            log.warning("vectors.not_indexed", error=str(error).strip())
