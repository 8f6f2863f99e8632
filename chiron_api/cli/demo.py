from typing import Annotated

import typer

from chiron_api.cli import raise_on_sigterm

cli = typer.Typer()


@cli.command()
def demo(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events as JSON lines and the summary as the last one.")
    ] = False,
) -> None:
    """Research a real batch from start to end in a minute, with everything embedded and no key.

    Starts Postgres, Valkey, two workers, the API and Flower in a fresh temporary home, makes the Python language
    reference that every CPython carries the corpus, lets the offline researcher work on eight topics, shows what
    happens, and stops and removes everything. Exit code 0 only if every run completed.
    """
    from chiron_api.cli.demonstration import demonstrate

    raise_on_sigterm()
    demonstrate(as_json=as_json)
