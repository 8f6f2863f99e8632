"""What lets a batch or a run finish that has paused at a budget, as a command."""

from chiron_api.cli.display.remedies import command_of
from chiron_workers.batches.cost_to_finish import CostToFinish


def finish_hint(cost: CostToFinish) -> str:
    """The amount, what it rests on, and the command that gives it."""
    return f"{cost.words} {command_of(cost.remedy)} gives it that."
