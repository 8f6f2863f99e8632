import logging

from chiron_api.mcp_server.act_tools import act_tools
from chiron_api.mcp_server.lessons import get_lesson, list_lessons
from chiron_api.mcp_server.reports import get_report, write_report
from chiron_api.mcp_server.research import cancel_run, get_run
from chiron_workers.toolkit import Registry
from chiron_workers.tools import registry

LOG = logging.getLogger(__name__)
FUNCTIONS = (
    get_run,
    cancel_run,
    write_report,
    get_report,
    list_lessons,
    get_lesson,
)


def client_tools() -> Registry:
    """The tools of MCP clients: every tool that makes sense outside a run, and research itself."""
    tools = Registry()
    for fault in registry().broken:
        LOG.warning("%s is left out: %s", fault.source, fault.reason)
    for tool in registry().all():
        if not tool.needs_run:
            tools.register(tool)
    for function in FUNCTIONS:
        tools.register(function, allow_replace=True)
    for act_tool in act_tools():
        tools.register(act_tool, allow_replace=True)
    return tools
