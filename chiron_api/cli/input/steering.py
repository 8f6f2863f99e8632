from collections.abc import Awaitable
from typing import Annotated, Any, Protocol
from uuid import UUID

import typer

from chiron_api.acts.inputs import Input
from chiron_api.answers.runs import Steering
from chiron_api.cli.display.answer import print_answer
from chiron_api.services import Services, open_services
from chiron_workers.batches.references import id_of
from chiron_workers.batches.steering import batch_of
from chiron_workers.settings import settings

Target = Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")]


class Command(Protocol):
    """An act on a batch or a run."""

    def command(self, services: Services, id: UUID, options: Any, /) -> Awaitable[Steering]:
        """Do it as a command does."""


async def steer(
    target: str,
    options: Input,
    *,
    batch: Command,
    run: Command,
    changed_words: str,
    asked_words: str = "",
    hint: str = "",
    as_json: bool,
) -> None:
    """Do the act on a batch or that on a run, and say what it did.

    Args:
        changed_words: What became of the runs that it changed at once, such as "cancelled".
        asked_words: What becomes of those whose worker was asked to act.
        hint: What to do next.
    """
    async with open_services(settings(), pool_size=1) as services:
        target_id = await id_of(services.pool, target)
        async with services.pool.connection() as connection:
            is_batch = await batch_of(connection, target_id) == target_id
        effect = await (batch if is_batch else run).command(services, target_id, options)
    counts = [(changed_words, effect.changed), (asked_words, effect.asked)]
    parts = [f"{words}: {count:,} {'run' if count == 1 else 'runs'}" for words, count in counts if count]
    if effect.lifted:
        parts.append(f"tried again at once: {', '.join(effect.lifted)}")
    text = "; ".join(parts) or "the budget is changed, and nothing had to be woken"
    print_answer(
        f"{text[:1].upper()}{text[1:]}. {hint}".rstrip(),
        {"changed": effect.changed, "requested": effect.asked, "lifted_models": effect.lifted},
        as_json=as_json,
    )
