from functools import partial
from typing import Annotated

import typer

from chiron_api.cli import run
from chiron_api.cli.input.money import NewBudget, NewTokens
from chiron_api.steering import outcome, steer_once
from chiron_workers.batches import steering
from chiron_workers.batches.summaries import parse_id
from chiron_workers.billing.budgets import Budget
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
def retry(
    target: Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")],
    budget_usd: NewBudget = None,
    budget_tokens: NewTokens = None,
    from_scratch: Annotated[
        bool,
        typer.Option(
            "--from-scratch",
            help="Begin anew instead of where the run ended, also completed runs. What they stored is kept.",
        ),
    ] = False,
) -> None:
    """Try a failed or cancelled run again, or all such runs of a batch. What the model has answered is not asked again."""
    command = partial(steering.retry, budget=Budget(budget_usd, budget_tokens), from_scratch=from_scratch)
    result = run(steer_once(settings(), parse_id(target), command))
    typer.echo(f"{outcome(result, changed_words='tried again')} `chiron watch {target}` follows.")
