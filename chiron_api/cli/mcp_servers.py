from typing import TYPE_CHECKING, Annotated, Any

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.text import as_json as json_line
from chiron_api.text import one_line
from chiron_workers.mcp_client.config.configuration import FILE, read_configuration
from chiron_workers.settings import settings

if TYPE_CHECKING:
    from chiron_workers.mcp_client.probe import ServerStatus

cli = typer.Typer()

Timeout = Annotated[float, typer.Option(min=1, max=600, help="Seconds that each server gets to answer.")]


@cli.command()
async def mcp_servers(as_json: AsJson = False, timeout: Timeout = 20) -> None:
    """Connect to the MCP servers whose tools agents are offered, and say how each of them stands.

    Exits with 2 if the file that names them is wrong; a server that does not answer is no error.
    """
    from chiron_workers.mcp_client.probe import probe

    configuration = read_configuration(settings())
    statuses = await probe(configuration.servers, timeout_s=timeout)
    if as_json:
        disabled_rows = [{"name": name, "state": "disabled"} for name in configuration.disabled_names]
        for row in (*map(_as_object, statuses), *disabled_rows):
            typer.echo(json_line(row))
    elif configuration.file is None:
        typer.echo(
            f"No MCP servers are configured. Name them in {settings().home / FILE}; see docs/mcp-servers.md."
        )
    else:
        for status in statuses:
            _print(status)
        for name in configuration.disabled_names:
            typer.echo(f"{one_line(name)}  disabled")
    for problem in configuration.problems:
        typer.echo(f"chiron: {one_line(problem, chars_max=1000)}", err=True)
    if configuration.problems:
        raise typer.Exit(2)


def _as_object(status: "ServerStatus") -> dict[str, Any]:
    config, tool_list = status.config, status.tool_list
    return {
        "name": config.name,
        "transport": config.transport,
        "address": config.address,
        "state": status.state,
        "protocol": status.protocol or None,
        "reason": status.reason or None,
        "tools": [tool.name for tool in tool_list.tools],
        "left_out": [{"tool": name, "reason": reason} for name, reason in tool_list.rejections],
    }


def _print(status: "ServerStatus") -> None:
    config, tool_list = status.config, status.tool_list
    head = f"{one_line(config.name)}  {config.transport} {one_line(config.address)}  {status.state}"
    if status.reason:
        typer.echo(f"{head}: {one_line(status.reason)}")
        return
    count = len(tool_list.tools)
    typer.echo(f"{head}  protocol {one_line(status.protocol)}  {count} tool{'' if count == 1 else 's'}")
    for tool in tool_list.tools:
        typer.echo(f"  {tool.name}")
    for name, reason in tool_list.rejections:
        typer.echo(f"  {one_line(name)} is left out: {one_line(reason)}")
