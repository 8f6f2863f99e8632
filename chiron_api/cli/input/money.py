from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer


def usd_amount(text: str) -> Decimal:
    """Parse an amount of money: 2.50 or $2.50. Raises typer.BadParameter for anything else, and for 0."""
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount <= 0:
        raise typer.BadParameter(f"must be an amount above 0, such as 2.50 (got {text[:40]!r}).")
    return amount


NewTokens = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="TOKENS", help="Tokens that the batch or the run may use from now on, in all."
    ),
]
NewBudget = Annotated[
    Decimal | None,
    typer.Option(
        parser=usd_amount, metavar="USD", help="What the batch or the run may cost from now on, in all."
    ),
]
