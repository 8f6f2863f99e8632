from typing import Annotated

import typer

from chiron_api.cli.display.answer import print_answer
from chiron_api.steering import Command
from chiron_api.steering import steer as steer_runs
from chiron_workers.access import audit
from chiron_workers.batches.references import id_of
from chiron_workers.batches.steering import batch_of
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import settings

Target = Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")]


async def steer(
    target: str,
    command: Command,
    changed_words: str,
    asked_words: str = "",
    *,
    action: str,
    hint: str = "",
    as_json: bool,
) -> None:
    """Run a command on a batch or a run, and say what it did.

    Args:
        changed_words: What became of the runs that it changed at once, such as "cancelled".
        asked_words: What becomes of those whose worker was asked to act.
        action: What the command is called in the audit trail.
        hint: What to do next.
    """
    async with open_pool(settings().database_url, size=1) as pool:
        target_id = await id_of(pool, target)
        async with pool.connection() as connection:
            kind = "batches" if await batch_of(connection, target_id) == target_id else "runs"
        async with audit.command(pool, f"{kind}.{action}", target_id):
            effect = await steer_runs(pool, settings().redis_url, target_id, command)
    counts = [(changed_words, effect.changed), (asked_words, effect.requested)]
    parts = [f"{words}: {count:,} {'run' if count == 1 else 'runs'}" for words, count in counts if count]
    if effect.lifted_models:
        parts.append(f"tried again at once: {', '.join(effect.lifted_models)}")
    text = "; ".join(parts) or "the budget is changed, and nothing had to be woken"
    print_answer(
        f"{text[:1].upper()}{text[1:]}. {hint}".rstrip(),
        {"changed": effect.changed, "requested": effect.requested, "lifted_models": effect.lifted_models},
        as_json=as_json,
    )
