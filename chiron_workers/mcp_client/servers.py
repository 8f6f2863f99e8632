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

FIRST_ANSWERS_S = 5.0


class Servers:
    """The MCP servers of one worker: each is supervised alone, and the tools of all are in the worker's registry."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry = registry
        self._settings = settings
        self._servers: dict[str, Server] = {}  # by slug
        self._tasks: list[asyncio.Task[None]] = []
        self._first_answers = asyncio.Event()

    def start(self) -> None:
        """Begin to connect to every server that is configured. What is wrong with the file is logged, and no more."""
        for config in _configuration(self._settings).servers:
            # The protocol's library takes long to import, and most workers have no servers.
            from chiron_workers.mcp_client.server import Server

            limit_s = self._settings.tool_timeout_s
            self._servers[config.slug] = Server(config, timeout_s=limit_s, on_offer=self._offer)
        self._registry.stand_ins.append(self.stand_in)
        self._tasks = [asyncio.create_task(server.supervise()) for server in self._servers.values()]
        self._tasks.append(asyncio.create_task(self._wait_for_first_answers()))

    async def first_answers(self) -> None:
        """Returns when every server has answered or failed once, a few seconds after the start at most."""
        await self._first_answers.wait()

    async def stop(self) -> None:
        """End all connections and processes, side by side, and take the tools out of the registry."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(ValueError):
            self._registry.stand_ins.remove(self.stand_in)
        for tool in self._registry.all():
            if self._owner(tool) is not None:
                self._withdraw(tool)

    def stand_in(self, name: str) -> Tool | None:
        """A tool that a run knows of and that is not registered here, if its name says that it is one of ours."""
        server = self._servers.get(slug_in(name))
        return None if server is None else _Absent(name, server, self._registry)

    async def _wait_for_first_answers(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIRST_ANSWERS_S):
                for server in self._servers.values():
                    await server.tried.wait()
        self._first_answers.set()

    def _owner(self, tool: Tool) -> "Server | None":
        server = getattr(tool, "server", None)
        return server if server in self._servers.values() else None

    def _withdraw(self, tool: Tool) -> None:
        try:
            self._registry.unregister(tool.name)
        except ToolError as error:  # a hook forbids it
            log.warning("mcp_server.not_withdrawn", tool=tool.name, reason=str(error))

    def _offer(self, server: "Server") -> None:
        now = {tool.name: tool for tool in server.offer.tools}
        for old in self._registry.all():
            if self._owner(old) is server and old.name not in now:
                self._withdraw(old)
        there = {tool.name: tool for tool in self._registry.all()}
        for name, tool in now.items():
            present = there.get(name)
            if present is not None and tool.same_as(present):
                continue
            is_own = present is not None and self._owner(present) is server
            try:
                self._registry.register(tool, allow_replace=is_own)
            except ToolError as error:
                log.warning(
                    "mcp_server.not_registered", server=server.config.name, tool=name, reason=str(error)
                )


class _Absent(Tool):
    """A tool that a run was offered by another worker, or before it went away."""

    needs_run = True

    def __init__(self, name: str, server: "Server", registry: Registry) -> None:
        self.name = name
        self.description = ""
        self.input_schema = {"type": "object"}
        self._server = server
        self._registry = registry

    def validate(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Nothing is known of the arguments yet."""
        return arguments

    async def run(self, store: "Store", given: Mapping[str, Any]) -> Any:
        """What the tool returns if its server comes in time. Raises MCPConnectionError, or MCPToolError if it is gone."""
        await self._server.wait(tool=self.name)
        found = self._registry.get(self.name)
        if isinstance(found, _Absent):
            message = f"The MCP server {self._server.config.name} does not offer {self.name} any more; go on without it."
            raise MCPToolError(message, tool=self.name)
        return await found.run(store, found.validate(given))


def _configuration(settings: Settings) -> Configuration:
    try:
        found = read_configuration(settings)
    except ConfigurationError as error:
        log.error("mcp_servers.broken", reason=str(error))  # noqa: TRY400  # the sentence says it all
        return Configuration()
    for problem in found.problems:
        log.error("mcp_servers.broken", reason=problem)
    return found
