from typing import Any

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.text import as_json as json_line
from chiron_api.text import one_line
from chiron_workers.mcp_client.config.configuration import read_configuration
from chiron_workers.settings import settings

REMOTE_S = 10.0

cli = typer.Typer()


@cli.command()
async def tools(as_json: AsJson = False) -> None:
    """List the tools that every agent is offered; as JSON, their definitions in the Anthropic format.

    Those of MCP servers are among them where a server answers within ten seconds.
    """
    from chiron_workers.tools import registry

    definitions = sorted(
        [*registry().definitions(), *await _remote()], key=lambda definition: str(definition["name"])
    )
    for problem in registry().broken:
        typer.echo(f"{problem.source} is left out: {one_line(problem.reason)}", err=True)
    if as_json:
        typer.echo(json_line(definitions))
        return
    width = max(len(definition["name"]) for definition in definitions)
    for definition in definitions:
        first = definition["description"].split("\n\n")[0]
        typer.echo(f"{definition['name']:{width}}  {one_line(first, chars_max=160)}")


async def _remote() -> list[dict[str, Any]]:
    configuration = read_configuration(settings())
    if not configuration.servers:
        return []
    from chiron_workers.mcp_client.probe import probe

    statuses = await probe(configuration.servers, timeout_s=REMOTE_S)
    for status in statuses:
        if status.reason:
            reason = one_line(status.reason)
            typer.echo(f"The MCP server {status.config.name} does not answer: {reason}", err=True)
    return [tool.definition() for status in statuses for tool in status.tool_list.tools]
