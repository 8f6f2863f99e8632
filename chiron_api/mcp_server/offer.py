from chiron_api.mcp_server.research import cancel_run, get_run, search, start_research
from chiron_workers.toolkit import Registry
from chiron_workers.tools import registry

WITHIN_RUNS = frozenset({"notes", "read_result"})


def offer() -> Registry:
    """What MCP clients are offered: every tool that makes sense outside a run, and research itself."""
    offered = Registry()
    for tool in registry().all():
        if tool.name not in WITHIN_RUNS:
            offered.register(tool)
    for function in (start_research, get_run, cancel_run, search):
        offered.register(function, allow_replace=True)
    return offered
