"""How to sign in to the API and to Flower, without their secrets."""

from collections.abc import Iterable

import typer

from chiron_api.local_stack.access import FLOWER_USER, key_hint
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.supervision import Part
from chiron_workers.settings import Settings


def print_sign_in(parts: Iterable[Part], settings: Settings) -> None:
    """Print a line for the API and one for Flower, where they are among the parts."""
    kinds = {part.kind for part in parts}
    if Kind.API in kinds:
        typer.echo(key_hint("The API", settings))
    if Kind.FLOWER in kinds:
        typer.echo(f"Flower asks for the user {FLOWER_USER} and a password; `chiron key flower` prints it.")
