from contextlib import suppress
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_workers.access.audit import command
from chiron_workers.batches.references import id_of
from chiron_workers.batches.summaries import find_run
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import NotFound
from chiron_workers.runs.leases import say as say_to_run
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
async def say(
    target: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run.")],
    message: Annotated[str, typer.Argument(help="What to tell the agent.")],
    as_json: AsJson = False,
) -> None:
    """Continue the conversation with a run: a running one reads the message next, a finished one goes on with it.

    What it answers is the run's answer from then on; `chiron show RUN --transcript` has those before.
    """
    from chiron_workers.pubsub.signals import notify

    async with open_pool(settings().database_url, size=2) as pool:
        run_id = await id_of(pool, target)
        async with command(pool, "runs.say", run_id):
            is_woken = await _say(pool, run_id, message)
    if is_woken:
        await notify(settings().redis_url, run_id)
    sentence = (
        f"The run goes on; `chiron watch {target}` follows it." if is_woken else "The run reads it next."
    )
    print_answer(sentence, {"run_id": run_id, "is_woken": is_woken}, as_json=as_json)


async def _say(pool: Pool, run_id: UUID, message: str) -> bool:
    try:
        return await say_to_run(pool, run_id, message)
    except NotFound:
        with suppress(NotFound):
            await find_run(pool, str(run_id))  # a batch is told from what is not there
        raise
