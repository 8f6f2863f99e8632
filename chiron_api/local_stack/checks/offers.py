"""What agents are offered: tools, skills, and the tools of MCP servers."""

import asyncio
from collections.abc import Iterator

from chiron_api.local_stack.checks import Check
from chiron_api.text import count, one_line
from chiron_api.views.skills import skill_rows
from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.config.configuration import Configuration, read_configuration
from chiron_workers.mcp_client.probe import ServerStatus, probe
from chiron_workers.settings import Settings
from chiron_workers.tools import registry

ORDER = 40
MCP_TIMEOUT_S = 20.0
MCP_ADVICE = "Correct the file; see docs/mcp-servers.md."


def checks(settings: Settings) -> Iterator[Check]:
    """How many there are of each, and each that is left out or does not answer."""
    yield from _tools() or [Check("tools", f"{len(registry().all())} are offered to agents.")]
    yield from _skills()
    yield from _mcp_servers(settings) or [Check("mcp servers", "None is configured.")]


def _tools() -> list[Check]:
    advice = "Correct it, or take it out of CHIRON_TOOLS."
    return [Check("tools", f"{tool.source} is left out: {tool.reason}", advice) for tool in registry().broken]


def _skills() -> list[Check]:
    rows = skill_rows()
    offered_by_name = {row["name"]: row for row in rows if row["state"] == "offered"}
    advice = "Correct it, or take the folder away."
    problems = [
        Check("skills", f"{row['folder']} is left out: {row['reason']}", advice)
        for row in rows
        if row["state"] == "left out"
    ]
    finding = f"{len(offered_by_name)} are offered to agents."
    for row in rows:
        if row["state"] == "shadowed":
            finding += f" {offered_by_name[row['name']]['folder']} is taken for {row['name']}, and not {row['folder']}."
    return problems or [Check("skills", finding)]


def _mcp_servers(settings: Settings) -> list[Check]:
    try:
        configuration = read_configuration(settings)
    except ConfigurationError as error:
        return [Check("mcp servers", str(error), MCP_ADVICE)]
    statuses = asyncio.run(probe(configuration.servers, timeout_s=MCP_TIMEOUT_S))
    problems = [Check("mcp servers", problem, MCP_ADVICE) for problem in configuration.problems]
    return problems + [_mcp_server(status, configuration) for status in statuses]


def _mcp_server(status: ServerStatus, configuration: Configuration) -> Check:
    name = one_line(status.config.name)
    if status.state != "ready":
        advice = f'Mend it, or set "disabled": true for it in {configuration.file}.'
        return Check("mcp servers", f"{name} does not answer: {one_line(status.reason)}", advice)
    tools, rejections = status.tool_list.tools, status.tool_list.rejections
    left_out = f"; {count(len(rejections), 'is', 'are')} left out" if rejections else ""
    return Check(
        "mcp servers", f"{name} answers, {count(len(tools), 'tool is', 'tools are')} offered{left_out}."
    )
