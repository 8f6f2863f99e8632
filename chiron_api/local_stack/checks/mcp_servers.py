import asyncio

from chiron_api.local_stack.checks import Check
from chiron_api.text import one_line
from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.config.configuration import Configuration, read_configuration
from chiron_workers.mcp_client.probe import ServerStatus, probe
from chiron_workers.settings import Settings

ORDER = 60
NAME = "mcp servers"
TIMEOUT_S = 20.0


def checks(settings: Settings) -> list[Check]:
    """One check for each MCP server that is configured, and for each entry of the file that is wrong."""
    try:
        configuration = read_configuration(settings)
    except ConfigurationError as error:
        return [Check(NAME, str(error), "Correct the file; see docs/mcp-servers.md.")]
    statuses = asyncio.run(probe(configuration.servers, timeout_s=TIMEOUT_S))
    results = [
        Check(NAME, problem, "Correct the file; see docs/mcp-servers.md.")
        for problem in configuration.problems
    ]
    results += [_check(status, configuration) for status in statuses]
    return results or [Check(NAME, "None is configured.")]


def _check(status: ServerStatus, configuration: Configuration) -> Check:
    name = one_line(status.config.name)
    if status.state != "ready":
        advice = f'Mend it, or set "disabled": true for it in {configuration.file}.'
        return Check(NAME, f"{name} does not answer: {one_line(status.reason)}", advice)
    left_out = f"; {len(status.tool_list.rejections)} are left out" if status.tool_list.rejections else ""
    return Check(NAME, f"{name} answers, {len(status.tool_list.tools)} tools are offered{left_out}.")
