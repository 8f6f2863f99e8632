"""The output of a command, as text or as JSON: one thing is an object on a line, a list has a line for each item.

`chiron search` and `chiron tools` print an array, which scripts rely on since the first version.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import typer

from chiron_api.text import as_json as json_line

Item = TypeVar("Item")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def print_answer(sentence: str, fields: object, *, as_json: bool) -> None:
    """Print the sentence for people or the fields for programs."""
    typer.echo(json_line(fields) if as_json else sentence)


def print_list(items: Sequence[Item], text: Callable[[Item], str], emptiness: str, *, as_json: bool) -> None:
    """Print the text of each item for people, and `emptiness` where there is none; for programs a line of JSON an item."""
    for item in items:
        typer.echo(json_line(item) if as_json else text(item))
    if not items and not as_json:
        typer.echo(emptiness)
