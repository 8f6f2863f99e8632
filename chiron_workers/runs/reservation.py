"""What statements that write a run, or reserve the money of its calls, have in common."""

from pathlib import Path
from typing import Any

from chiron_workers.runs.entries import MaxCost

RESERVATION_SQL = Path(__file__).with_suffix(".sql")
NO_CALL: dict[str, Any] = dict.fromkeys(("usd", "tokens", "call", "keeps_budgets"))


def reservation_columns(max_cost: MaxCost) -> dict[str, Any]:
    """The parameters of the statements that reserve, settle or free the money of a call."""
    return {
        "usd": max_cost.usd,
        "tokens": max_cost.tokens,
        "call": max_cost.call,
        "keeps_budgets": max_cost.keeps_budgets,
    }
