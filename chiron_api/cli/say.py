from contextlib import suppress
from typing import Annotated

import typer

from chiron_api.acts.runs import Message, send_message
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.display.remedies import pasteable
from chiron_api.cli.input.options import takes_input
from chiron_api.services import open_services
from chiron_workers.batches.references import id_of
from chiron_workers.batches.summaries import find_run
from chiron_workers.errors import NotFound
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
@takes_input(text=typer.Argument(metavar="MESSAGE"))
async def say(
    target: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run.")],
    message: Message,
    as_json: AsJson = False,
) -> None:
    """Continue the conversation with a run: a running one reads the message next, a finished one goes on with it.

    What it answers is the run's answer from then on; `chiron show RUN --transcript` has those before.
    """
    async with open_services(settings(), pool_size=2) as services:
        run_id = await id_of(services.pool, target)
        try:
            answer = await send_message.command(services, run_id, message)
        except NotFound:
            with suppress(NotFound):
                await find_run(services.pool, str(run_id))  # a batch is told from what is not there
            raise
    sentence = f"The run goes on; {pasteable('watch', target)} follows it."
    print_answer(sentence if answer.is_woken else "The run reads it next.", answer, as_json=as_json)
