"""The command that lets a batch or a run finish after it paused at a budget."""

from chiron_api.cli.display.remedies import command_of
from chiron_workers.batches.cost_to_finish import CostToFinish


def finish_hint(cost: CostToFinish) -> str:
    """The amount, its basis, and the command that sets it."""
    return f"{cost.words} {command_of(cost.remedy)} gives it that."
