"""What lets a batch or a run finish that has paused at a budget, as a command."""

import shlex

from chiron_workers.batches.cost_to_finish import CostToFinish


def finish_hint(cost: CostToFinish) -> str:
    """The amount, what it rests on, and the command that gives it."""
    command = ["chiron", "resume", str(cost.target)]
    command += [] if cost.usd is None else ["--budget-usd", f"{cost.usd:f}"]
    command += [] if cost.tokens is None else ["--budget-tokens", str(cost.tokens)]
    return f"{cost.words} `{shlex.join(command)}` gives it that."
