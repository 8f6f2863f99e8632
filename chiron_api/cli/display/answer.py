"""What a command has done, as a sentence or as one line of JSON."""

from typing import Annotated

import typer

from chiron_api.text import as_json as json_line

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def print_answer(sentence: str, fields: object, *, as_json: bool) -> None:
    """Print the sentence for people or the fields for programs."""
    typer.echo(json_line(fields) if as_json else sentence)
