from collections.abc import Awaitable
from typing import Annotated, Any, Protocol
from uuid import UUID

import typer

from chiron_api.acts import steering as acts
from chiron_api.acts.inputs import Input
from chiron_api.answers.runs import Steering
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.display.remedies import pasteable
from chiron_api.cli.input.options import takes_input
from chiron_api.services import Services, open_services
from chiron_workers.batches.references import id_of
from chiron_workers.batches.steering import batch_of
from chiron_workers.settings import settings

cli = typer.Typer()
Target = Annotated[str, typer.Argument(metavar="BATCH_OR_RUN", help="Id of a batch or of a run.")]
HINT = "{} follows."


class Command(Protocol):
    """An act on a batch or a run."""

    def command(self, services: Services, id: UUID, options: Any, /) -> Awaitable[Steering]:
        """Do it as a command does."""


@cli.command()
async def pause(target: Target, as_json: AsJson = False) -> None:
    """Put a run, or all open runs of a batch, aside until `chiron resume`. A model call in flight is finished first."""
    words = ("paused", "pausing as soon as the model has answered")
    await _steer(target, acts.NO_OPTIONS, acts.pause_batch, acts.pause_run, words, as_json=as_json)


@cli.command()
@takes_input()
async def resume(target: Target, options: acts.BatchResume, as_json: AsJson = False) -> None:
    """Continue a paused run, or all paused runs of a batch, from where they were.

    Those that failed since they used all their turns continue as well, with 50 turns more each.
    """
    words = ("going on", "")
    await _steer(target, options, acts.resume_batch, acts.resume_run, words, HINT, as_json=as_json)


@cli.command()
async def cancel(target: Target, as_json: AsJson = False) -> None:
    """End a run, or all open runs of a batch. What was found stays; `chiron retry` goes on from there."""
    words = ("cancelled", "being cut off by its worker")
    await _steer(target, acts.NO_OPTIONS, acts.cancel_batch, acts.cancel_run, words, as_json=as_json)


@cli.command()
@takes_input()
async def retry(target: Target, options: acts.Retry, as_json: AsJson = False) -> None:
    """Try a failed or cancelled run again, or all such runs of a batch. What the model has answered is not asked again."""
    words = ("tried again", "")
    await _steer(target, options, acts.retry_batch, acts.retry_run, words, HINT, as_json=as_json)


async def _steer(
    target: str,
    options: Input,
    batch: Command,
    run: Command,
    words: tuple[str, str],
    hint: str = "",
    *,
    as_json: bool,
) -> None:
    """Do the act on a batch or that on a run, and say what it did.

    Args:
        words: What became of the runs that it changed at once, and what becomes of those whose worker was asked to act.
        hint: What to do next with the target.
    """
    async with open_services(settings(), pool_size=1) as services:
        target_id = await id_of(services.pool, target)
        async with services.pool.connection() as connection:
            is_batch = await batch_of(connection, target_id) == target_id
        if isinstance(options, acts.BatchResume) and not is_batch:
            options = options.of_run()
        effect = await (batch if is_batch else run).command(services, target_id, options)
    counts = zip(words, (effect.changed, effect.asked), strict=True)
    parts = [f"{state}: {count:,} {'run' if count == 1 else 'runs'}" for state, count in counts if count]
    if effect.lifted:
        parts.append(f"tried again at once: {', '.join(effect.lifted)}")
    text = "; ".join(parts) or "the budget is changed, and nothing had to be woken"
    print_answer(
        f"{text[:1].upper()}{text[1:]}. {hint.format(pasteable('watch', target))}".rstrip(),
        {"changed": effect.changed, "requested": effect.asked, "lifted_models": effect.lifted},
        as_json=as_json,
    )
