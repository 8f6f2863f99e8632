import asyncio
from typing import Annotated

import typer

from chiron_api.answers.fleet import Fleet as Health
from chiron_api.cli import raise_on_sigterm
from chiron_api.cli.display.activity import steps
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.display.health_line import health_now
from chiron_api.cli.display.model_holds import holds_now, print_holds
from chiron_api.cli.display.sign_in import print_sign_in
from chiron_api.local_stack.stack import LocalStack
from chiron_api.local_stack.supervision import Part
from chiron_api.text import as_json as json_line
from chiron_workers.errors import ChironError
from chiron_workers.runs.model_holds import Hold
from chiron_workers.settings import read_settings, settings
from chiron_workers.settings.environment import environment_warnings
from chiron_workers.worker.fleet import Fleet

cli = typer.Typer()

Workers = Annotated[
    int | None, typer.Option(min=1, help="Worker processes; default CHIRON_WORKERS, or one for each core.")
]
Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Runs that each worker plays at once; default CHIRON_CONCURRENCY.")
]
Detach = Annotated[bool, typer.Option("--detach", help="Return once everything is up, and leave it running.")]


@cli.command()
def up(workers: Workers = None, concurrency: Concurrency = None, detach: Detach = False) -> None:
    """Start the local stack: Postgres, Valkey, workers, API and Flower.

    Data lives in CHIRON_HOME and stays there. Where CHIRON_DATABASE_URL or CHIRON_REDIS_URL is set,
    that service is used instead of an own one. Ctrl+C drains the workers and stops everything.
    """
    raise_on_sigterm()
    for warning in environment_warnings():
        typer.echo(f"Warning: {warning}", err=True)
    stack = LocalStack(read_settings(), workers=workers, concurrency=concurrency)
    with steps() as tell:
        stack.start(tell)
    if detach:
        _print_with_sign_in(stack.parts())
        typer.echo(
            "Everything is up. `chiron open` opens the page, `chiron status` shows the parts, `chiron down` stops them."
        )
    else:
        _follow(stack)


@cli.command()
def down(as_json: AsJson = False) -> None:
    """Stop the local stack from anywhere: drain the workers, then stop everything. The data stays."""
    stack = LocalStack(read_settings())
    is_stopped, folder = stack.stop(), stack.home.folder
    sentence = (
        f"Everything stopped; the data stays in {folder}." if is_stopped else f"Nothing runs in {folder}."
    )
    print_answer(sentence, {"is_stopped": is_stopped, "home": str(folder)}, as_json=as_json)


@cli.command()
def status(as_json: AsJson = False) -> None:
    """Show the parts of the local stack, their processes, states and addresses, how to sign in, and models that are held.

    While the stack is being stopped, it shows the parts that have not ended yet, as stopping.
    """
    stack = LocalStack(read_settings())
    parts = stack.parts()
    holds, health = asyncio.run(_state_now()) if parts else ([], None)
    last_parts = None if parts else stack.ending_parts()
    if as_json:
        line = {"health": Health.model_validate(health)} if health else {}
        typer.echo(json_line({"parts": parts or last_parts or [], "held": holds, **line}))
    elif parts:
        _print_with_sign_in(parts)
        print_holds(holds)
        if health:
            typer.echo(health.line)
    elif last_parts is not None:
        _print(last_parts)
        typer.echo(f"Chiron is just stopping in {stack.home.folder}. `chiron down` waits until it has.")
    else:
        typer.echo(f"Nothing runs in {stack.home.folder}. Start it with `chiron up`.")


async def _state_now() -> tuple[list[Hold], Fleet]:
    """The models that are held, and how the installation is."""
    return await holds_now(settings()), await health_now(settings())


def _follow(stack: LocalStack) -> None:
    try:
        _print_with_sign_in(stack.parts())
        typer.echo("Everything is up. Ctrl+C drains the workers and stops it.")
        for sentence in stack.changes():
            typer.echo(sentence)
        stack.stop()  # The supervisor is stopping its parts, or was killed and left them.
    except KeyboardInterrupt:
        _drain(stack)
    except BaseException:
        stack.stop()  # The terminal is gone, and with it the way to stop this stack by Ctrl+C.
        raise
    else:
        _explain_end(stack)


def _drain(stack: LocalStack) -> None:
    try:
        typer.echo("Draining the workers, then stopping everything (Ctrl+C again: at once) ...")
    finally:
        _stop(stack)  # also where the terminal is gone
    typer.echo(f"Everything stopped; the data stays in {stack.home.folder}.")


def _stop(stack: LocalStack) -> None:
    try:
        stack.stop()
    except KeyboardInterrupt:
        stack.kill()


def _explain_end(stack: LocalStack) -> None:
    if stack.has_failed():
        raise ChironError(
            "The supervisor of the stack was killed, so the rest was stopped too. "
            f"Its log: {stack.home.logs / 'supervisor.log'}"
        )
    typer.echo(
        f"Everything was stopped from elsewhere, as `chiron down` does; the data stays in {stack.home.folder}."
    )


def _print_with_sign_in(parts: list[Part]) -> None:
    _print(parts)
    print_sign_in(parts, settings())


def _print(parts: list[Part]) -> None:
    width = max((len(part.name) for part in parts), default=0)
    for part in parts:
        pid = f"pid {part.pid}" if part.pid else ""
        typer.echo(f"{part.name:{width}}  {part.state:10}  {pid:11}  {part.address}".rstrip())
