import logging

from chiron_api.mcp_server.research import cancel_run, get_run, search, start_research
from chiron_workers.toolkit import Registry
from chiron_workers.tools import registry

LOG = logging.getLogger(__name__)


def offer() -> Registry:
    """What MCP clients are offered: every tool that makes sense outside a run, and research itself."""
    offered = Registry()
    for broken in registry().broken:
        LOG.warning("%s is left out: %s", broken.source, broken.reason)
    for tool in registry().all():
        if not tool.needs_run:
            offered.register(tool)
    for function in (start_research, get_run, cancel_run, search):
        offered.register(function, allow_replace=True)
    return offered
