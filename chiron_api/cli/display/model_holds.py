"""Models that are held, as sentences: no worker calls them for a while."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import psycopg
import typer

from chiron_api.text import local_time, one_line
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import ChironError
from chiron_workers.runs.model_holds import Hold, active_holds
from chiron_workers.settings import Settings


def print_holds(holds: Iterable[Hold]) -> None:
    """Print one line for each model that is held, each model once."""
    for hold in {hold.model: hold for hold in holds}.values():
        typer.echo(
            f"Held until {local_time(hold.until)}: {one_line(hold.model)}. {one_line(hold.reason)} "
            "`chiron resume` of a batch or run tries it at once."
        )


def holds_of_summary(entries: Iterable[dict[str, Any]]) -> list[Hold]:
    """The holds that a summary of a batch or a run names."""
    return [
        Hold(entry["model"], datetime.fromisoformat(entry["until"]), entry["reason"]) for entry in entries
    ]


async def holds_now(settings: Settings) -> list[Hold]:
    """The holds that stand; none where the database does not tell: whoever asks wants to know what runs."""
    try:
        async with open_pool(settings.database_url, size=1) as pool:
            return await active_holds(pool)
    except (ChironError, psycopg.Error):
        return []
