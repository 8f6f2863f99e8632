from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer


def usd_option(help: str) -> Any:
    """An option whose value is an amount of money above 0: 2.50 or $2.50."""
    return typer.Option(parser=_parse_usd, metavar="USD", help=help)


def _parse_usd(text: str) -> Decimal:
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount <= 0:
        raise typer.BadParameter(f"must be an amount above 0, such as 2.50 (got {text[:40]!r}).")
    return amount


BudgetTokens = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="TOKENS", help="Tokens that the batch or the run may use from now on, in all."
    ),
]
BudgetUsd = Annotated[Decimal | None, usd_option("What the batch or the run may cost from now on, in all.")]
