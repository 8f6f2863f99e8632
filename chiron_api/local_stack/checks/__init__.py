"""What `chiron doctor` looks at: the machine, services, tools, skills, MCP servers, searching, and the parts that should run."""

from chiron_api.local_stack.checks.broker import broker_checks
from chiron_api.local_stack.checks.check import Check
from chiron_api.local_stack.checks.database import database_checks
from chiron_api.local_stack.checks.machine import machine_checks
from chiron_api.local_stack.checks.mcp_servers import mcp_server_checks
from chiron_api.local_stack.checks.search import search_checks
from chiron_api.local_stack.checks.skills import skill_checks
from chiron_api.local_stack.checks.tools import tool_checks
from chiron_api.local_stack.checks.web import web_checks

__all__ = [
    "Check",
    "broker_checks",
    "database_checks",
    "machine_checks",
    "mcp_server_checks",
    "search_checks",
    "skill_checks",
    "tool_checks",
    "web_checks",
]
