from typing import Annotated
from uuid import UUID

import typer

from chiron_api.cli import run
from chiron_workers.batches.summaries import parse_id
from chiron_workers.db.connect import open_pool
from chiron_workers.runs.leases import say as say_to_run
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
def say(
    target: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run.")],
    message: Annotated[str, typer.Argument(help="What to tell the agent.")],
) -> None:
    """Continue the conversation with a run: a running one reads the message next, a finished one goes on with it."""
    woken = run(_say(parse_id(target), message))
    typer.echo(f"The run goes on; `chiron watch {target}` follows it." if woken else "The run reads it next.")


async def _say(run_id: UUID, message: str) -> bool:
    from chiron_workers.pubsub.signals import notify

    async with open_pool(settings().database_url, size=2) as pool:
        woken = await say_to_run(pool, run_id, message)
    if woken:
        await notify(settings().redis_url, run_id)
    return woken
