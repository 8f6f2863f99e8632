from typing import Annotated

import typer

from chiron_api.acts.steering import Retry, retry_batch, retry_run
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.money import BudgetTokens, BudgetUsd
from chiron_api.cli.input.options import options
from chiron_api.cli.input.steering import Target, steer

cli = typer.Typer()


@cli.command()
async def retry(
    target: Target,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    from_scratch: Annotated[
        bool,
        typer.Option(
            "--from-scratch",
            help="Begin anew instead of where the run ended, also completed runs. What they stored is kept.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Try a failed or cancelled run again, or all such runs of a batch. What the model has answered is not asked again."""
    await steer(
        target,
        options(Retry, budget_usd=budget_usd, budget_tokens=budget_tokens, from_scratch=from_scratch),
        batch=retry_batch,
        run=retry_run,
        changed_words="tried again",
        hint=f"`chiron watch {target}` follows.",
        as_json=as_json,
    )
