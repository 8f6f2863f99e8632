from decimal import Decimal, InvalidOperation

import typer


def parse_usd(text: str) -> Decimal:
    """An amount of money above 0: 2.50 or $2.50."""
    try:
        amount = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount <= 0:
        raise typer.BadParameter(f"must be an amount above 0, such as 2.50 (got {text[:40]!r}).")
    return amount
