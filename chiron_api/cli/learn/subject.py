from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import typer

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.settings import settings

Subject = Annotated[str, typer.Argument(help="The subject, by its id or its name.")]


@asynccontextmanager
async def open_subject_pool() -> AsyncIterator[Pool]:
    """A pool for what a command asks and writes."""
    async with open_pool(settings().database_url, size=2) as pool:
        yield pool
