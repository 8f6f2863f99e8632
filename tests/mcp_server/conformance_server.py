"""The server that the conformance suite tests: ours, with the tools, resources and prompts that the suite expects.

`python conformance_server.py` prints its address and serves until it is told to stop.
"""

import base64
import json
import socket
import sys
from collections.abc import Mapping
from typing import Any

import mcp_types as types
import uvicorn
from fastmcp import FastMCP
from fastmcp.prompts import Message
from fastmcp.tools import ToolResult
from fastmcp.tools.base import InputRequiredToolResult
from mcp_server import conformance_asking, conformance_schemas, conformance_tools
from mcp_server.conformance_asking import asking, given, question
from mcp_server.conformance_tools import PNG, embedded

from chiron_api.mcp_server.lazy_services import LazyServices
from chiron_api.mcp_server.server import build_server, http_app
from chiron_api.mcp_server.tool_adapter import ToolAdapter
from chiron_workers.toolkit import Registry


class FixtureAdapter(ToolAdapter):
    """As the product's, for tools that need no store and return what no tool of ours does: images and questions."""

    async def execute(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        tool = self.registry.get(name)
        data = await tool.run(None, tool.validate(arguments))  # type: ignore[arg-type]
        if isinstance(data, types.InputRequiredResult):
            return InputRequiredToolResult(data)
        return ToolResult(data)


def conformance_server() -> FastMCP:
    registry = Registry()
    for module in (conformance_tools, conformance_asking, conformance_schemas):
        registry.load_from_module(module)
    registry.register(conformance_schemas.ReadySchema())
    tools = FixtureAdapter(registry, LazyServices()).tools()
    server = build_server("conformance", "What the suite expects.", tools)
    add_resources(server)
    add_prompts(server)
    return server


def add_resources(server: FastMCP) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """A text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """An image."""
        return base64.b64decode(PNG)

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        """What can be subscribed to."""
        return "Watched resource content."

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        """The data of an id."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    async def subscribed(*_: object) -> types.EmptyResult:
        return types.EmptyResult()

    # fastmcp serves no subscriptions by itself.
    low = server._mcp_server
    low.add_request_handler("resources/subscribe", types.SubscribeRequestParams, subscribed)
    low.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, subscribed)


def add_prompts(server: FastMCP) -> None:
    @server.prompt
    def test_simple_prompt() -> str:
        """A prompt."""
        return "This is a simple prompt for testing."

    @server.prompt
    def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt with arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803  # the suite's name
        """A prompt with a resource."""
        resource = embedded(resourceUri, "Embedded resource content for testing.")
        return [Message(resource), Message("Please process the embedded resource above.")]

    @server.prompt
    def test_prompt_with_image() -> list[Message]:
        """A prompt with an image."""
        return [Message(conformance_tools.image()), Message("Please analyze the image above.")]

    @server.prompt
    def test_input_required_result_prompt() -> Any:
        """A prompt that asks first."""
        context = given("user_context", "context")
        if context:
            return f"Bear in mind: {context}"
        return asking(user_context=question("What context should the prompt use?", "context"))

    @server.completion
    def complete(*_: object) -> list[str]:
        return ["paris", "park", "party"]


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
        sys.stdout.flush()
        app = http_app(conformance_server(), LazyServices(), key="")
        uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=2)).run(
            sockets=[listener]
        )
