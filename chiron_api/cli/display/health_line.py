"""The health of the installation as a line: workers, Redis, the queue, money today."""

import psycopg
import typer

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import ChironError
from chiron_workers.settings import Settings
from chiron_workers.worker.fleet import Fleet, read_fleet


async def health_now(settings: Settings) -> Fleet:
    """The health of the installation, also while Postgres is away."""
    try:
        async with open_pool(settings.database_url, size=1) as pool:
            return await read_fleet(pool, settings)
    except (ChironError, psycopg.Error):
        return Fleet()


async def print_health(pool: Pool, settings: Settings, *, problems_only: bool) -> None:
    """Print the line on standard error; with `problems_only` only where research cannot run."""
    fleet = await read_fleet(pool, settings)
    if fleet.problems or not problems_only:
        typer.echo(fleet.line, err=True)
