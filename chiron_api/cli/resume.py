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
def resume(
    target: Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")],
    budget_usd: NewBudget = None,
    budget_tokens: NewTokens = None,
) -> None:
    """Let a paused run, or all paused runs of a batch, go on from where they were."""
    command = partial(steering.resume, budget=Budget(budget_usd, budget_tokens))
    result = run(steer_once(settings(), parse_id(target), command))
    typer.echo(f"{outcome(result, changed_words='going on')} `chiron watch {target}` follows.")
