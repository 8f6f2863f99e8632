from typing import Annotated

import typer

from chiron_api.terminal import as_json as json_line
from chiron_api.terminal import one_line

cli = typer.Typer()


@cli.command()
def tools(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the tools that every agent is offered; as JSON, their definitions in the Anthropic format."""
    from chiron_workers.tools import registry

    definitions = registry().definitions()
    for broken in registry().broken:
        typer.echo(f"{broken.source} is left out: {one_line(broken.reason)}", err=True)
    if as_json:
        typer.echo(json_line(definitions))
        return
    width = max(len(definition["name"]) for definition in definitions)
    for definition in definitions:
        first = definition["description"].split("\n\n")[0]
        typer.echo(f"{definition['name']:{width}}  {one_line(first, chars_max=160)}")
