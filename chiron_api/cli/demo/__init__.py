"""The command `chiron demo`: a real batch, or the whole way of learning, with everything embedded and no key."""

import time
from typing import Annotated

import typer

from chiron_api.cli import raise_on_sigterm
from chiron_api.cli.demo.home import DemoHome

cli = typer.Typer()


@cli.command()
def demo(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events as JSON lines and the summary as the last one.")
    ] = False,
    is_kept: Annotated[
        bool, typer.Option("--keep", help="Leave the page open at the end, until Ctrl+C.")
    ] = False,
    is_learning: Annotated[
        bool,
        typer.Option(
            "--learn", help="Go the whole way from a goal to marked answers, and leave the home there."
        ),
    ] = False,
) -> None:
    """Research a real batch from start to end in a minute, with everything embedded and no key.

    Starts Postgres, Valkey, two workers, the API and Flower in a fresh temporary home, makes the Python language
    reference that every CPython carries the corpus, lets the offline researcher work on eight topics, shows what
    happens here and on a page, and stops and removes everything. Exit code 0 only if every run completed.

    With --learn a journey goes from a learning goal over a map, research and a lesson to three questions, which you are
    asked if this is a terminal. Its home stays, to be gone on with.
    """
    raise_on_sigterm()
    began = time.monotonic()
    home = DemoHome(as_json=as_json, is_kept=is_kept)
    if is_learning:
        from chiron_api.cli.demo.learning import learn

        learn(home, began)
    else:
        from chiron_api.cli.demo.research import research

        research(home, began)
