from typing import Annotated

import typer

from chiron_api.steering import Command, steer_once
from chiron_workers.batches.summaries import parse_id
from chiron_workers.settings import settings

Target = Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")]


async def steer(target: str, command: Command, changed_words: str, asked_words: str = "") -> str:
    """Run a command on a batch or a run; one sentence about what it did.

    Args:
        changed_words: What became of the runs that it changed at once, such as "cancelled".
        asked_words: What becomes of those whose worker was asked to act.
    """
    effect = await steer_once(settings(), parse_id(target), command)
    counts = [(changed_words, effect.changed), (asked_words, effect.requested)]
    parts = [f"{words}: {count:,} {'run' if count == 1 else 'runs'}" for words, count in counts if count]
    if effect.lifted_models:
        parts.append(f"tried again at once: {', '.join(effect.lifted_models)}")
    text = "; ".join(parts) or "the budget is changed, and nothing had to be woken"
    return f"{text[:1].upper()}{text[1:]}."
