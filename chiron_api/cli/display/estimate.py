"""The estimate that `chiron submit --dry-run` prints."""

from decimal import Decimal

import typer

from chiron_api.text import as_json as json_line
from chiron_api.text import one_line, usd
from chiron_workers.batches.similar_runs import Basis
from chiron_workers.estimates.new_batches import Estimate, Kind


def print_estimate(estimate: Estimate, *, as_json: bool) -> None:
    """Print an estimate, for people or as one line of JSON."""
    if as_json:
        typer.echo(json_line(estimate))
        return
    topics = f"{estimate.runs:,} topic{'' if estimate.runs == 1 else 's'}"
    typer.echo(f"{topics}, all in order. Nothing was submitted.")
    for kind in estimate.kinds:
        typer.echo(f"  {_sentence(kind)}")
    if estimate.usd is not None and estimate.usd_if_dear is not None:
        typer.echo(
            f"In all about {usd(estimate.usd)}; {usd(estimate.usd_if_dear)} if each is as dear as the dearest tenth."
        )
    else:
        typer.echo("What it costs in all is unknown.")
    typer.echo(_limit(estimate.at_most_usd, estimate.today_usd))


def _limit(at_most_usd: Decimal | None, today_usd: Decimal | None) -> str:
    if today_usd is None or (at_most_usd is not None and at_most_usd <= today_usd):
        return (
            "No budget in USD binds it."
            if at_most_usd is None
            else f"The budgets let it cost {usd(at_most_usd)} at most."
        )
    in_all = "no budget in USD binds it in all" if at_most_usd is None else f"{usd(at_most_usd)} in all"
    return f"The budgets let it cost {usd(today_usd)} at most today, by CHIRON_DAILY_BUDGET_USD; {in_all}."


def _sentence(kind: Kind) -> str:
    runs = f"{kind.runs:,} {kind.role} {'run' if kind.runs == 1 else 'runs'} with {one_line(kind.model)}"
    per_run = f"about {kind.turns:.0f} turns and {kind.tokens:,} tokens"
    cost = "at no price that is known" if kind.usd is None else f"{usd(kind.usd)} each"
    return f"{runs}: {per_run}, {cost} ({_basis(kind)})"


def _basis(kind: Kind) -> str:
    match kind.rests_on:
        case Basis.SUBJECT:
            return f"as the last {kind.basis:,} of this subject took"
        case Basis.MODEL:
            return f"as the last {kind.basis:,} took"
        case Basis.ASSUMPTION:
            return (
                "a guess, since none has completed here yet: it rests on no run, but on turns of usual length"
            )
