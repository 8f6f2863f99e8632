"""What the conformance suite starts as a client: our own, which calls every tool that it is offered.

python conformance_client.py URL; MCP_CONFORMANCE_CONTEXT may say with which arguments.
"""

import asyncio
import json
import os
import sys
from typing import Any

from support.detached_store import detached_store

from chiron_workers.errors import ToolError
from chiron_workers.mcp_client.config.configuration import server_config
from chiron_workers.mcp_client.server import Server
from chiron_workers.mcp_client.tools.tool import RemoteTool

EXAMPLES: dict[str, Any] = {
    "integer": 5,
    "number": 5,
    "string": "x",
    "boolean": True,
    "array": [],
    "object": {},
}


def arguments_of(tool: RemoteTool) -> dict[str, Any]:
    properties = tool.input_schema["properties"]
    required = tool.input_schema.get("required", properties)
    return {name: EXAMPLES.get(properties[name].get("type"), "x") for name in required}


async def call(tool: RemoteTool, arguments: dict[str, Any]) -> None:
    try:
        print(tool.remote_name, await tool.run(detached_store(), tool.validate(arguments)))
    except ToolError as error:
        print(tool.remote_name, repr(error))


async def main(url: str) -> None:
    config = server_config("suite", {"url": url})
    assert config is not None
    server = Server(config, timeout_s=20, on_tool_list=lambda _: None)
    supervision = asyncio.create_task(server.supervise())
    await server.first_attempt.wait()
    print(server.state, server.reason, server.tool_list.rejections)
    tools = {tool.remote_name: tool for tool in server.tool_list.tools}
    wanted = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")).get("toolCalls")
    asked = wanted or [{"name": name, "arguments": arguments_of(tool)} for name, tool in tools.items()]
    await asyncio.gather(*(call(tools[one["name"]], one["arguments"]) for one in asked))
    supervision.cancel()
    await asyncio.gather(supervision, return_exceptions=True)


asyncio.run(main(sys.argv[-1]))
