"""A small MCP server: over stdio, or over HTTP on a port with a key that it asks for.

`--legacy` lets it speak the protocol of 2025 only, with sessions. Where `PIDS` names a folder, it leaves its pid there.
"""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

server = MCPServer("honest")
NO_DISCOVERY = {"code": -32601, "message": "Method not found"}


class Sum(BaseModel):
    total: int


@server.tool()
def add(a: int, b: int = 1) -> Sum:
    """Add two whole numbers."""
    return Sum(total=a + b)


@server.tool()
def refuse(why: str) -> str:
    """Answer with an error."""
    raise ToolError(why)


@server.tool()
def picture() -> Image:
    """Give a picture."""
    return Image(data=b"\x89PNG" * 100, format="png")


@server.tool()
def reveal(variable: str) -> str:
    """Tell the value of an environment variable."""
    return os.environ.get(variable, "not set")


@server.tool()
async def sleep(seconds: float, mark: str) -> str:
    """Wait, and leave marks of what happens."""
    folder = Path(os.environ["MARKS"])
    (folder / f"{mark}.began").touch()
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        (folder / f"{mark}.cancelled").touch()
        raise
    return "slept"


@server.tool()
async def grow(ctx: Context) -> str:
    """Gain a tool."""

    def grown() -> str:
        """A tool that was not there before."""
        return "grown"

    server.add_tool(grown)
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "there is a tool more"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--key", default="")
    parser.add_argument("--legacy", action="store_true")
    given = parser.parse_args()
    if pids := os.environ.get("PIDS"):
        (Path(pids) / str(os.getpid())).touch()
    print("this server is honest", file=sys.stderr)
    if given.http is None:
        server.run("stdio")
    else:
        serve(given.http, given.key, is_legacy=given.legacy)


def serve(port: int, key: str, *, is_legacy: bool) -> None:
    import uvicorn

    app = server.streamable_http_app()

    async def answer(send, status: int, body: bytes) -> None:
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": body})

    async def gate(scope, receive, send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        if key and dict(scope["headers"]).get(b"authorization") != key.encode():
            await answer(send, 401, b'{"detail": "no"}')
            return
        first = await receive()
        if is_legacy and b"server/discover" in first.get("body", b""):
            told = {"jsonrpc": "2.0", "id": json.loads(first["body"])["id"], "error": NO_DISCOVERY}
            await answer(send, 404, json.dumps(told).encode())
            return
        waiting = [first]

        async def again():
            return waiting.pop() if waiting else await receive()

        await app(scope, again, send)

    uvicorn.run(gate, host="127.0.0.1", port=port, log_level="warning", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
