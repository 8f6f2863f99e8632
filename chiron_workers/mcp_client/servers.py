import asyncio
import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import structlog

from chiron_workers.errors import ConfigurationError, MCPToolError, ToolError
from chiron_workers.mcp_client.config.configuration import Configuration, read_configuration
from chiron_workers.mcp_client.config.names import slug_in
from chiron_workers.settings import Settings
from chiron_workers.toolkit.registry import Registry
from chiron_workers.toolkit.tool import Tool

if TYPE_CHECKING:
    from chiron_workers.mcp_client.server import Server
    from chiron_workers.store import Store

log = structlog.get_logger()

FIRST_ATTEMPTS_S = 5.0


class Servers:
    """The MCP servers of one worker: each is supervised alone, and the tools of all are in the worker's registry."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings
        self._servers: dict[str, Server] = {}  # by slug
        self._tasks: list[asyncio.Task[None]] = []
        self._started_at = 0.0  # on the loop's clock

    def start(self) -> None:
        """Begin to connect to every server that is configured. What is wrong with the file is only logged."""
        for config in _read_configuration(self._settings).servers:
            # The protocol's library takes long to import, and most workers have no servers.
            from chiron_workers.mcp_client.server import Server

            timeout_s = self._settings.tool_timeout_s
            self._servers[config.slug] = Server(
                config, timeout_s=timeout_s, on_tool_list=self._update_registry
            )
        self._registry.stand_ins.append(self.placeholder)
        self._tasks = [asyncio.create_task(server.supervise()) for server in self._servers.values()]
        self._started_at = asyncio.get_running_loop().time()

    async def wait_for_first_attempts(self) -> None:
        """Wait until every server has answered or failed once, for a few seconds after the start at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._started_at + FIRST_ATTEMPTS_S):
                for server in self._servers.values():
                    await server.first_attempt.wait()

    async def stop(self) -> None:
        """End all connections and processes, side by side, and take the tools out of the registry."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(ValueError):
            self._registry.stand_ins.remove(self.placeholder)
        for tool in self._registry.all():
            if self._owner(tool) is not None:
                self._unregister(tool)

    def placeholder(self, name: str) -> Tool | None:
        """Stands for a tool that a run knows and that is not registered here; None if its name has no server of ours."""
        server = self._servers.get(slug_in(name))
        return None if server is None else _PlaceholderTool(name, server, self._registry)

    def _owner(self, tool: Tool) -> "Server | None":
        return self._servers.get(getattr(tool, "server_slug", ""))

    def _unregister(self, tool: Tool) -> None:
        try:
            self._registry.unregister(tool.name)
        except ToolError as error:  # a hook forbids it
            log.warning("mcp_server.not_withdrawn", tool=tool.name, reason=str(error))

    def _update_registry(self, server: "Server") -> None:
        tools = {tool.name: tool for tool in server.tool_list.tools}
        for tool in self._registry.all():
            if self._owner(tool) is server and tool.name not in tools:
                self._unregister(tool)
        old_tools = {tool.name: tool for tool in self._registry.all()}
        for name, new_tool in tools.items():
            old_tool = old_tools.get(name)
            if old_tool is not None and new_tool.is_same_as(old_tool):
                continue
            is_own = old_tool is not None and self._owner(old_tool) is server
            try:
                self._registry.register(new_tool, allow_replace=is_own)
            except ToolError as error:
                log.warning(
                    "mcp_server.not_registered", server=server.config.name, tool=name, reason=str(error)
                )


class _PlaceholderTool(Tool):
    """A tool that another worker offered to a run, or that its server offered before it went away."""

    needs_run = True

    def __init__(self, name: str, server: "Server", registry: Registry) -> None:
        self.name = name
        self.description = ""
        self.input_schema = {"type": "object"}
        self._server = server
        self._registry = registry

    def validate(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments unchanged: no schema is known yet."""
        return arguments

    async def run(self, store: "Store", arguments: Mapping[str, Any]) -> Any:
        await self._server.wait_for_connection(tool=self.name)
        tool = self._registry.get(self.name)
        if isinstance(tool, _PlaceholderTool):
            message = f"The MCP server {self._server.config.name} does not offer {self.name} any more; go on without it."
            raise MCPToolError(message, tool=self.name)
        return await tool.run(store, tool.validate(arguments))


def _read_configuration(settings: Settings) -> Configuration:
    try:
        configuration = read_configuration(settings)
    except ConfigurationError as error:
        log.error("mcp_servers.broken", reason=str(error))  # noqa: TRY400  # the sentence says it all
        return Configuration()
    for problem in configuration.problems:
        log.error("mcp_servers.broken", reason=problem)
    return configuration
