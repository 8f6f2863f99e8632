from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version

from fastmcp import FastMCP
from fastmcp.tools import Tool
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import Scope

from chiron_api.http.auth import Authentication
from chiron_api.mcp_server.instructions import INSTRUCTIONS
from chiron_api.mcp_server.lazy_services import LazyServices
from chiron_api.mcp_server.resources import resource_templates
from chiron_api.mcp_server.session_owners import SessionOwners
from chiron_api.mcp_server.tasks import ResearchTasks
from chiron_api.mcp_server.tool_adapter import ToolAdapter
from chiron_api.mcp_server.tools import client_tools
from chiron_workers.db.connect import Pool

Lifespan = Callable[[FastMCP], AbstractAsyncContextManager[None]]
CACHED_S = 60  # the tools of a process never change


def research_server(services: LazyServices) -> FastMCP:
    """The MCP server of Chiron; it needs no service until a tool is called."""

    @asynccontextmanager
    async def lifespan(_: FastMCP) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await services.close()

    server = build_server("chiron", INSTRUCTIONS, ToolAdapter(client_tools(), services).tools(), lifespan)
    server.add_extension(ResearchTasks(services))
    for template in resource_templates(services):
        server.add_template(template)
    return server


def build_server(
    name: str, instructions: str, tools: Sequence[Tool], lifespan: Lifespan | None = None
) -> FastMCP:
    """A server that offers these tools with their own schemas, and shows callers no internal errors."""
    server: FastMCP = FastMCP(
        name,
        instructions,
        version=version("chiron"),
        mask_error_details=True,
        dereference_schemas=False,
        cache_ttl=CACHED_S,
        cache_scope="private",
        lifespan=lifespan,
    )
    for tool in tools:
        server.add_tool(tool)
    return server


def http_app(server: FastMCP, services: LazyServices, *, key: str) -> Starlette:
    """The server over streamable HTTP at /mcp; without a key it answers only programs of this machine."""

    async def find_pool(_: Scope) -> Pool:
        return (await services.get()).pool

    gate = Middleware(Authentication, key=key, find_pool=find_pool, has_pages=False)
    middleware = [gate, Middleware(SessionOwners)]
    return server.http_app(path="/mcp", middleware=middleware, host_origin_protection="auto")
