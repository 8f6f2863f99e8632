import asyncio

from chiron_api.local_stack.checks.check import Check
from chiron_api.text import one_line
from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.config.configuration import Configuration, read_configuration
from chiron_workers.mcp_client.probe import Standing, inspect
from chiron_workers.settings import Settings

NAME = "mcp servers"
TIMEOUT_S = 20.0


def mcp_server_checks(settings: Settings) -> list[Check]:
    """One check for each MCP server that is configured, and for each entry of the file that is wrong."""
    try:
        found = read_configuration(settings)
    except ConfigurationError as error:
        return [Check(NAME, str(error), "Correct the file; see docs/mcp-servers.md.")]
    standings = asyncio.run(inspect(found.servers, timeout_s=TIMEOUT_S))
    checks = [
        Check(NAME, problem, "Correct the file; see docs/mcp-servers.md.") for problem in found.problems
    ]
    checks += [_check(standing, found) for standing in standings]
    return checks or [Check(NAME, "None is configured.")]


def _check(standing: Standing, found: Configuration) -> Check:
    name = one_line(standing.config.name)
    if standing.state != "ready":
        advice = f'Mend it, or set "disabled": true for it in {found.file}.'
        return Check(NAME, f"{name} does not answer: {one_line(standing.reason)}", advice)
    left_out = f"; {len(standing.offer.left_out)} are left out" if standing.offer.left_out else ""
    return Check(NAME, f"{name} answers, {len(standing.offer.tools)} tools are offered{left_out}.")
