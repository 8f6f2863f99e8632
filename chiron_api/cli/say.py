from typing import Annotated

import typer

from chiron_workers.batches.summaries import parse_id
from chiron_workers.db.connect import open_pool
from chiron_workers.runs.leases import say as say_to_run
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
async def say(
    target: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run.")],
    message: Annotated[str, typer.Argument(help="What to tell the agent.")],
) -> None:
    """Continue the conversation with a run: a running one reads the message next, a finished one goes on with it."""
    from chiron_workers.pubsub.signals import notify

    run_id = parse_id(target)
    async with open_pool(settings().database_url, size=2) as pool:
        is_woken = await say_to_run(pool, run_id, message)
    if is_woken:
        await notify(settings().redis_url, run_id)
    typer.echo(
        f"The run goes on; `chiron watch {target}` follows it." if is_woken else "The run reads it next."
    )
